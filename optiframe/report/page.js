"use strict";
// Draws the charts of the page from the data embedded in it; everything else works without this.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const touch = window.matchMedia("(pointer: coarse)");
  const print = window.matchMedia("print");
  const titles = {}; // by chart, what its file is called
  const problems = [...new Set(data.convergence.map((group) => group.title))];
  const shown = data.solvers.map(() => true);
  // Plotly reads a little HTML in text and fills in %{...}; a title is to be read as it is written.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const isDark = () => dark.matches && !print.matches;
  const colour = (solver) => data.solvers[solver][isDark() ? "dark" : "light"];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const faded = (hex, share) => {
    const part = (at) => parseInt(hex.slice(at, at + 2), 16);
    return `rgba(${part(1)},${part(3)},${part(5)},${share})`;
  };

  // ---- one chart ----------------------------------------------------------------------------
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };

  // Ticks at 1, 2, 5 of each power of ten where there is room for them, else at every few powers.
  // A tick needs room for its own word beside its neighbours', across some 7 pixels a letter.
  function ticks(values, length, upright) {
    const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.log10);
    for (const digits of [[1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1]]) {
      const found = [];
      for (let power = Math.floor(low); power <= high + 1; power++) {
        for (const digit of digits) {
          if (Math.log10(digit) + power >= low - 0.1 && Math.log10(digit) + power <= high + 0.1) found.push([digit, power]);
        }
      }
      const most = Math.max(2, length / (upright ? 30 : 60));
      const every = digits.length > 1 ? 1 : Math.ceil(found.length / most);
      const kept = found.filter(([, power]) => power % every === 0);
      const word = ([digit, power]) => (power < -3 || power > 4
        ? `${digit === 1 ? "" : `${digit}×`}10<sup>${power}</sup>` : String(Number((digit * 10 ** power).toPrecision(2))));
      const wide = (tick) => (upright ? 24 : 12 + 7 * word(tick).replace(/<.?sup>/g, "").length);
      const pixels = length / Math.max(high - low, 0.2);
      const at = ([digit, power]) => (Math.log10(digit) + power) * pixels;
      const close = kept.some((tick, i) => i > 0 && at(tick) - at(kept[i - 1]) < (wide(tick) + wide(kept[i - 1])) / 2);
      if (kept.length < 2 || (digits.length > 1 && close)) continue;
      return { tickmode: "array", tickvals: kept.map(([digit, power]) => digit * 10 ** power), ticktext: kept.map(word) };
    }
    return {};
  }
  const across = (id, curves) => ticks(curves.flatMap((c) => c.x).filter((x) => x > 0), by(id).clientWidth - 68, false);

  function axis(title, log, more) {
    const lines = style("--line");
    return {
      title: { text: title, standoff: 8 }, type: log ? "log" : "linear", gridcolor: style("--grid"),
      linecolor: lines, tickcolor: lines, ticks: "outside", zeroline: false, automargin: true,
      tickangle: 0, exponentformat: log ? "power" : "e", minexponent: 4, nticks: log ? 8 : 6, ...more,
    };
  }

  function draw(id, name, traces, x, y) {
    titles[id] = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    const layout = {
      font: { family: style("--text"), size: 13, color: style("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 56, r: 12, t: 12, b: 48 }, showlegend: false, hovermode: "closest",
      dragmode: touch.matches ? false : "zoom", // a finger scrolls the page
      hoverlabel: { bgcolor: style("--raised"), bordercolor: style("--soft"), font: { color: style("--ink") } },
      modebar: { color: style("--soft"), activecolor: style("--accent"), bgcolor: "rgba(0,0,0,0)" },
      xaxis: x, yaxis: y,
    };
    Plotly.react(by(id), traces, layout, config);
  }

  // The name of a trace is in `meta`; a trace that belongs to another is a "part" without a name.
  function line(curve, ys, more) {
    const solver = data.solvers[curve.solver];
    return {
      type: "scatter", mode: "lines+markers", x: curve.x, y: ys, meta: plain(solver.title), name: plain(solver.title),
      visible: shown[curve.solver], customdata: [curve.solver],
      line: { color: colour(curve.solver), width: 2.2, dash: solver.dash, shape: "hv" },
      marker: { symbol: solver.symbol, size: 7.5, maxdisplayed: 9, color: colour(curve.solver) },
      hovertemplate: "%{meta}<br>%{yaxis.title.text} %{y:.3g}<br>%{xaxis.title.text} %{x:.4g}<extra></extra>",
      ...more,
    };
  }

  // ---- suboptimality ------------------------------------------------------------------------
  // The corners of a step curve: from x[i] on, up to x[i + 1], it is y[i].
  const corners = (xs, ys) => xs.flatMap((x, i) => (i ? [[x, ys[i - 1]], [x, ys[i]]] : [[x, ys[i]]]));

  function band(curve, edge, top) {
    const low = corners(curve.x, curve.low.map(edge));
    const high = corners(curve.x, curve.high.map((value) => (value === null ? top : edge(value)))).reverse();
    return {
      type: "scatter", mode: "lines", fill: "toself", hoverinfo: "skip", line: { width: 0 },
      x: [...low, ...high].map((point) => point[0]), y: [...low, ...high].map((point) => point[1]),
      fillcolor: faded(colour(curve.solver), 0.15), visible: shown[curve.solver] && by("bands").checked,
      meta: "part", customdata: [curve.solver],
    };
  }

  function drawConvergence() {
    const group = data.convergence.find((one) => one.title === problems[Number(by("problem").value)] && one.measure === by("progress").value);
    const logX = by("log-x").checked, logY = by("log-y").checked;
    for (const against of ["time", "iterations"]) {
      const curves = group[against];
      const positive = curves.flatMap((c) => [...c.y, ...c.low]).filter((value) => value !== null && value > 0);
      // Zero has no place on a logarithmic axis: it is drawn a decade under the lowest other value.
      const least = positive.length ? Math.min(...positive) : 1e-16;
      // A band that reaches up to a failure ends with the chart.
      const top = Math.max(...curves.flatMap((c) => [...c.y, ...c.high]));
      const edge = (value) => (logY && value !== null && value <= 0 ? least / 10 : value);
      // Only the last answer was judged apart from the solver; what it passed on the way is its own report.
      const marks = (curve) => {
        const symbol = data.solvers[curve.solver].symbol;
        return curve.x.map((_, i) => (i < curve.x.length - 1 ? `${symbol}-open` : symbol));
      };
      const ends = (curve) => ({
        ...line(curve, [edge(curve.y.at(-1))]), x: [curve.x.at(-1)], mode: "markers", meta: "part", hoverinfo: "skip", hovertemplate: null,
      });
      const traces = [
        ...curves.map((curve) => band(curve, edge, top)),
        ...curves.map((curve) => {
          const drawn = line(curve, curve.y.map(edge));
          return { ...drawn, marker: { ...drawn.marker, symbol: marks(curve) } };
        }),
        ...curves.map(ends), // whichever marks of a long line are left out, not this one
      ];
      const title = against === "time" ? "time (s)" : "iterations";
      const id = `against-${against}`;
      const drawn = curves.flatMap((c) => [...c.y, ...c.low].map(edge)).filter((value) => value > 0);
      const x = axis(title, logX, logX ? across(id, curves) : { rangemode: "tozero" });
      const y = axis(group.measure, logY, logY ? ticks(drawn, by(id).clientHeight - 60, true) : {});
      draw(id, `${group.measure} ${group.title} ${id}`, traces, x, y);
    }
  }

  // ---- profiles -----------------------------------------------------------------------------
  // The options of a select, with the one kept that was chosen where it is still there.
  function offer(id, values, word, preferred) {
    const wanted = by(id).value;
    const strings = values.map(String);
    const chosen = strings.includes(wanted) ? wanted : String(preferred);
    by(id).replaceChildren(...values.map((value) => new Option(word(value), value, false, String(value) === chosen)));
    return by(id).value;
  }

  function drawProfiles() {
    const measure = by("measure").value;
    const merit = measure === "decrease by evaluations";
    const metric = measure !== "suboptimality" && !merit;
    const measured = data.profiles.filter((profile) => profile.measure === measure);
    const costs = [...new Set(measured.map((profile) => profile.cost))];
    const cost = offer("cost", costs, (value) => value, costs[0]);
    const same = measured.filter((profile) => profile.cost === cost);
    const gaps = same.map((profile) => profile.gap);
    const word = (value) => (metric ? (value ? String(value) : "0 (the best)") : value.toExponential(0));
    const positive = gaps.filter((value) => value > 0);
    const preferred = metric ? (positive.length ? positive[positive.length - 1] : 0) : gaps[Math.min(1, gaps.length - 1)];
    const gap = Number(offer("gap", gaps, word, preferred));
    by("gap-name").textContent = metric ? "Within" : merit ? "Missing" : "Gap";
    by("excluded").hidden = metric;
    const profile = same.find((one) => one.gap === gap);
    const drawn = new Set(profile.performance.map((curve) => curve.solver));
    const absent = data.solvers.filter((_, solver) => !drawn.has(solver)).map((solver) => solver.title);
    by("solved").textContent = metric
      ? `Solved: the final answer's ${measure} is ${gap ? `within ${gap} of` : "equal to"} that of the best solver on the same problem and seed. The time is that of the whole run.${absent.length ? ` Left out, without this metric: ${absent.join(", ")}.` : ""}`
      : merit
      ? `Solved: an evaluated point is missing at most ${gap.toExponential(0)} of the decrease from the start to the best point of any solver, for the first time (Moré and Wild). Points are judged by OptiProfiler's merit, the objective with a penalty for violated constraints.`
      : `Solved: the relative suboptimality is within ${gap.toExponential(0)}, for the first time.`;
    const share = { range: [-0.02, 1.04], tickformat: ".0%", dtick: 0.2 };
    const steps = (curves) => curves.map((c) => line(c, c.y));
    const ratio = `times the best ${cost === "time" ? "time" : `number of ${cost}`}`;
    const name = `${measure} within ${gap} ${cost}`;
    draw("performance", `performance profile ${name}`, steps(profile.performance), axis(ratio, true, across("performance", profile.performance)), axis("share of runs", false, share));
    draw("data-profile", `data profile ${name}`, steps(profile.data), axis(profile.axis, true, across("data-profile", profile.data)), axis("share of runs", false, share));
  }

  // ---- the legend: one for all charts ----------------------------------------------------------
  function drawAll() {
    for (const part of document.querySelectorAll(".of-solver")) {
      part.style.visibility = shown[Number(part.dataset.solver)] ? "" : "hidden";
    }
    if (data.convergence.length) drawConvergence();
    if (data.profiles.length) drawProfiles();
  }
  for (const box of document.querySelectorAll("#legend input")) {
    shown[Number(box.dataset.solver)] = box.checked;
    box.addEventListener("change", () => {
      shown[Number(box.dataset.solver)] = box.checked;
      drawAll();
    });
  }

  for (const [id, checked] of [["all", true], ["none", false]]) {
    by(id)?.addEventListener("click", () => {
      for (const box of document.querySelectorAll("#legend input")) box.checked = checked;
      shown.fill(checked);
      drawAll();
    });
  }

  // ---- saving charts --------------------------------------------------------------------------
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "string" && /^[=+\-@\t]/.test(value) ? `'${value}` : String(value);
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  for (const button of document.querySelectorAll(".downloads button[data-chart]")) {
    button.addEventListener("click", () => {
      const chart = by(button.dataset.chart), name = titles[button.dataset.chart];
      if (button.dataset.kind === "csv") {
        const progress = button.dataset.chart.startsWith("against-");
        const head = ["solver", chart.layout.xaxis.title.text, chart.layout.yaxis.title.text, ...(progress ? ["judged"] : [])];
        const rows = chart.data.filter((trace) => trace.visible && trace.meta !== "part")
          .flatMap((trace) => trace.x.map((x, i) => [
            data.solvers[trace.customdata[0]].title, x, trace.y[i], ...(progress ? [i === trace.x.length - 1] : []),
          ]));
        return saveText(`${name}.csv`, "text/csv", [head, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n");
      }
      const traces = chart.data.map((trace) => ({ ...trace, showlegend: trace.meta !== "part" }));
      const layout = { ...chart.layout, showlegend: true, legend: { orientation: "h", y: -0.2 }, paper_bgcolor: style("--paper") };
      const kind = button.dataset.kind;
      return Plotly.toImage({ data: traces, layout }, { format: kind, width: 760, height: 560, scale: kind === "png" ? 3 : 1 })
        .then((place) => saveAs(`${name}.${kind}`, place));
    });
  }

  // ---- copying --------------------------------------------------------------------------------
  for (const button of document.querySelectorAll(".copy button")) {
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        by("said").textContent = button.textContent = "Copied";
      } catch {
        // Not every browser lets a file use the clipboard; then the text is selected, ready to copy.
        getSelection().selectAllChildren(code);
        by("said").textContent = button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  // ---- begin ------------------------------------------------------------------------------------
  if (data.convergence.length) {
    by("problem").replaceChildren(...problems.map((title, i) => new Option(title, i)));
    const choose = () => {
      const title = problems[Number(by("problem").value)];
      const found = data.convergence.filter((group) => group.title === title).map((group) => group.measure);
      const before = by("progress").value;
      const now = offer("progress", found, (value) => value, found[0]);
      by("progress").closest("label").hidden = data.convergence.every((group) => group.measure === "suboptimality");
      if (now !== before) by("log-y").checked = now === "suboptimality";
    };
    choose();
    by("problem").addEventListener("change", choose);
    by("progress").addEventListener("change", () => { by("log-y").checked = by("progress").value === "suboptimality"; });
    document.querySelector("#convergence .drawn").hidden = false;
    // Where one solver ends a hundred times as late as another, the faster ones would all lie on the axis.
    const apart = data.convergence.some((group) => {
      const ends = group.time.map((curve) => curve.x.at(-1)).filter((end) => end > 0);
      return ends.length > 0 && Math.max(...ends) >= 100 * Math.min(...ends);
    });
    by("log-x").checked = apart;
    for (const id of ["problem", "progress", "log-x", "log-y", "bands"]) by(id).addEventListener("change", drawConvergence);
  }
  if (data.profiles.length) {
    const measures = [...new Set(data.profiles.map((profile) => profile.measure))];
    by("measure").replaceChildren(...measures.map((measure) => new Option(measure, measure)));
    document.querySelector("#profiles .drawn").hidden = false;
    for (const id of ["measure", "gap", "cost"]) by(id).addEventListener("change", drawProfiles);
  }
  const groups = [...document.querySelectorAll(".quality")];
  if (groups.length > 1) {
    const shownProblems = [...new Set(groups.map((group) => group.dataset.problem))];
    const show = () => {
      const problem = shownProblems[Number(by("quality-problem").value)];
      const here = groups.filter((group) => group.dataset.problem === problem);
      const measure = offer("quality-measure", here.map((group) => group.dataset.measure), (value) => value, here[0].dataset.measure);
      for (const group of groups) group.hidden = !(here.includes(group) && group.dataset.measure === measure);
    };
    by("quality-problem").replaceChildren(...shownProblems.map((problem, i) => new Option(problem, i)));
    for (const id of ["quality-problem", "quality-measure"]) by(id).addEventListener("change", show);
    document.querySelector("#quality .controls").hidden = false;
    show();
  }
  const rankings = [...document.querySelectorAll(".ranking")];
  if (rankings.length > 1) {
    const show = () => rankings.forEach((one, i) => { one.hidden = i !== Number(by("ranking").value); });
    by("ranking").replaceChildren(...rankings.map((one, i) => new Option(one.dataset.measure, i)));
    by("ranking").closest(".controls").hidden = false;
    by("ranking").addEventListener("change", show);
    show();
  }
  dark.addEventListener("change", drawAll);
  print.addEventListener("change", drawAll);
  drawAll();
})();
