"use strict";
(() => {
  const data = JSON.parse(document.getElementById("facts").textContent);
  const all = (words, root = document) => Array.from(root.querySelectorAll(words));
  const count = (n) => n.toLocaleString("en-US", { maximumFractionDigits: 0 });
  const percent = (share) => (share === null ? "–" : (100 * share).toFixed(1) + "%");
  // Two digits, unless the run was given a finer threshold.
  const level = (t) => (Number(t.toFixed(2)) === t ? t.toFixed(2) : String(t));
  const slider = document.getElementById("slider");

  // Where each live number comes from, at place i of the thresholds.
  const show = {
    threshold: (i) => level(data.thresholds[i]),
    matches: (i) => count(data.matches[i]),
    review: (i) => count(data.review[i]),
    rest: (i) => count(data.decisions["match"] + data.decisions["review"] + data.decisions["no match"] - data.matches[i] - data.review[i]),
    expected: (i) => count(data.expected_right[i]),
    mean: (i) => percent(data.matches[i] ? data.expected_right[i] / data.matches[i] : null),
  };
  for (const name of ["validation_curve", "test_curve"]) {
    const curve = data[name];
    if (!curve) continue;
    show[name + ".precision"] = (i) => percent(curve.precision[i]);
    show[name + ".recall"] = (i) => percent(curve.recall[i]);
    show[name + ".interval"] = (i) => curve.low[i] === null ? "no match made" : percent(curve.low[i]) + " to " + percent(curve.high[i]);
    show[name + ".of"] = (i) => count(curve.right[i]) + " of " + count(curve.pairs) + " true pairs";
  }

  const charts = all("svg[data-x0]").map((svg) => {
    const [x0, x1, y0, y1] = ["x0", "x1", "y0", "y1"].map((key) => Number(svg.dataset[key]));
    return { svg, x: (t) => x0 + t * (x1 - x0), y: (v) => y0 + v * (y1 - y0), back: (x) => (x - x0) / (x1 - x0) };
  });

  const move = (i) => {
    const t = data.thresholds[i];
    for (const place of all("[data-live]")) place.textContent = show[place.dataset.live](i);
    for (const { svg, x, y } of charts) {
      for (const line of all("[data-guide]", svg)) { line.setAttribute("x1", x(t)); line.setAttribute("x2", x(t)); }
      for (const dot of all("[data-dot]", svg)) {
        const [curve, key] = dot.dataset.dot.split(".");
        const value = data[curve][key][i];
        dot.setAttribute("visibility", value === null ? "hidden" : "visible");
        if (value !== null) { dot.setAttribute("cx", x(t)); dot.setAttribute("cy", y(value)); }
      }
      for (const bar of all("[data-middle]", svg)) {
        const middle = Number(bar.dataset.middle);
        bar.setAttribute("class", "bar " + (middle >= t ? "match" : middle >= Math.min(data.review_from, t) ? "review" : "none"));
      }
    }
    slider.setAttribute("aria-valuetext", "threshold " + level(t) + ": " + show.matches(i) + " matches, precision " +
      show["validation_curve.precision"](i) + ", recall " + show["validation_curve.recall"](i));
    document.getElementById("back").disabled = i === data.start;
  };

  const nearest = (t) => data.thresholds.reduce((best, value, i) => Math.abs(value - t) < Math.abs(data.thresholds[best] - t) ? i : best, 0);
  const set = (i) => { slider.value = String(i); move(i); };
  slider.addEventListener("input", () => move(Number(slider.value)));
  document.getElementById("back").addEventListener("click", () => set(data.start));
  for (const { svg, back } of charts) {
    const follow = (event) => {
      if (event.buttons !== 1) return;
      const box = svg.getBoundingClientRect();
      set(nearest(back((event.clientX - box.left) / box.width * svg.viewBox.baseVal.width)));
    };
    svg.addEventListener("pointerdown", follow);
    svg.addEventListener("pointermove", follow);
  }
  for (const hidden of all("[data-script]")) hidden.hidden = false;
  // A browser may restore the slider's place after a reload.
  move(Number(slider.value));

  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  // The title would pop up over our own tooltip; screen readers get its words from the label.
  for (const svg of all("svg.chart")) {
    const title = svg.querySelector("title");
    const words = svg.querySelector("desc");
    svg.setAttribute("aria-label", title.textContent + ". " + words.textContent);
    title.remove();
  }
  document.addEventListener("pointermove", (event) => {
    const place = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    tip.hidden = place === null;
    if (place === null) return;
    tip.textContent = place.dataset.tip;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(event.clientX + 12, innerWidth - box.width - 6)) + "px";
    tip.style.top = (event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18) + "px";
  });
})();
