// Search without a server: browsers start no worker from a file, so on file:// a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.body.append(frame);
      const inside = frame.contentWindow;
      this.ready = new Promise((done) => {
        // Scripts are read one after the other, as a worker reads them.
        inside.importScripts = (...urls) =>
          urls.reduce(
            (before, each) => before.then(() => new Promise((read, failed) => {
              const script = inside.document.createElement("script");
              Object.assign(script, { src: each, onload: read, onerror: failed });
              inside.document.body.append(script);
            })),
            Promise.resolve(),
          );
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inside.importScripts(String(url)).then(done);
      });
      this.inside = inside;
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
