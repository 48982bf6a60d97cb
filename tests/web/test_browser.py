"""The engine in a worker of a real browser gives the same results as in node."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from benchmarks.browser import open_browser
from tests.web.test_engine import WEB, answer_to, described, problems, request_about

from ntm.runs import Stream, build_model
from ntm.tasks import Copy
from ntm.training import paper_settings

# Does the same as answer.mjs, with messages.
WORKER = """
import { loadEngine } from "ADDRESS/engine.js";
onmessage = async ({ data: { config, parameters, batches, trace } }) => {
  const network = (await loadEngine("ADDRESS/engine.wasm")).network(config);
  network.load(parameters);
  const bits = batches.map((batch) => network.train(batch));
  const results = { bits, trace: network.trace(trace), parameters: network.parameters() };
  const plain = (_, value) => (value instanceof Float32Array ? Array.from(value) : value);
  postMessage(JSON.stringify(results, plain));
};
"""
ASK = """([code, request]) => new Promise((resolve, reject) => {
  const blob = new Blob([code], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(blob), { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message ?? "the worker does not start"));
  worker.postMessage(request);
})"""


class Quiet(SimpleHTTPRequestHandler):
    """A web server that keeps no log."""

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on a plain web server; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def address() -> Iterator[str]:
    with served(WEB) as address:
        yield address


def test_a_browsers_worker_traces_and_trains_as_node_does(address: str) -> None:
    block = Stream(Copy(), seed=1, batch_size=1).block(0)
    batches = [problems(block.narrow(i, i + 4)) for i in range(0, 80, 4)]
    net = build_model(paper_settings("copy", "ntm-lstm"))
    trace = described(block.inputs[:, :2], block.lengths[:2])
    request = request_about(net, batches=batches, trace=trace)
    with open_browser() as browser:
        page = browser.new_page()
        page.goto(address)
        found = json.loads(page.evaluate(ASK, [WORKER.replace("ADDRESS", address), request]))
    expected = answer_to(request)
    for name in ("bits", "trace", "parameters"):
        assert found[name] == expected[name], name
