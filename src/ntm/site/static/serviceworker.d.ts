/** Globals of offline.js: a service worker's scope, and the constants that Python writes into it. */

declare const VERSION: string;
declare const FILES: string[];
declare const clients: { claim(): Promise<void> };
declare function skipWaiting(): Promise<void>;

interface ExtendableEvent extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface WindowEventMap {
  install: ExtendableEvent;
  activate: ExtendableEvent;
  fetch: FetchEvent;
}
