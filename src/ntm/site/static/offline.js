/** Service worker that stores the site's files for use offline. Python writes the list. */

/* FILES */

const NAME = `ntm-${VERSION}`;

addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const forget = async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith("ntm-") && name !== NAME);
    await Promise.all(old.map((name) => caches.delete(name)));
    await clients.claim();
  };
  event.waitUntil(forget());
});

/** Prefer the network, so that nobody sees an old page; without an answer, use the stored file. */
addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  const kept = () => caches.match(event.request, { ignoreSearch: true });
  event.respondWith(fetch(event.request).catch(async (error) => {
    const found = await kept();
    if (found) return found;
    throw error;
  }));
});
