"use strict";
// Draws the charts that the server describes, and adds to their data. An expression of a
// specification is interpreted ("ast"), not compiled: the policy of the page allows no "eval".
const at = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token") ?? "";
const own = (path) => `${path}?token=${encodeURIComponent(token)}`;
const { nonce } = document.currentScript;
const charts = new Map();
let program = null;
function make(kind, text, name) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}
// Asked for when there is something to draw; once more where the server was not there.
function loaded() {
  program ??= new Promise((done, failed) => {
    const script = make("script");
    script.type = "module"; // its names are its own
    script.nonce = nonce;
    script.onload = done;
    script.onerror = () => { program = null; failed(new Error("the server did not give what draws it")); };
    script.src = own(at("charts").dataset.vega);
    document.head.append(script);
  });
  return program;
}
function newChart(name) {
  const chart = { figure: make("figure"), caption: make("figcaption"), box: make("div", undefined, "chart"), note: make("p"), view: null, ready: Promise.resolve() };
  chart.caption.id = `chart-${name}`;
  chart.box.setAttribute("role", "img");
  chart.box.setAttribute("aria-labelledby", chart.caption.id);
  chart.figure.append(chart.caption, chart.box, chart.note);
  charts.set(name, chart);
  return chart;
}
async function drawAnew(chart, head) {
  chart.caption.textContent = head.title;
  if (!chart.view) chart.note.textContent = "drawing …";
  await loaded();
  const options = { ast: true, renderer: "svg", actions: false, tooltip: false, hover: false, defaultStyle: false, mode: "vega-lite" };
  // Beside the one before, which stays until this one is there.
  const box = make("div");
  const { view } = await vegaEmbed(box, head.spec, options);
  chart.view?.finalize();
  chart.view = view;
  chart.box.replaceChildren(box);
  chart.note.textContent = head.notes.join("; ");
}
async function change(chart, head, rows, shaded) {
  if (head) await drawAnew(chart, head);
  if (!chart.view) return;
  if (rows.length) chart.view.insert("points", rows);
  if (shaded.length) chart.view.insert("shaded", shaded);
  if (rows.length || shaded.length) await chart.view.runAsync();
}
function showCharts(event) {
  const { all, changed } = JSON.parse(event.data);
  for (const [name, chart] of charts)
    if (!all.includes(name)) {
      charts.delete(name);
      chart.figure.remove();
      chart.ready.then(() => chart.view?.finalize());
    }
  for (const { name, head, rows, shaded } of changed) {
    const chart = charts.get(name) ?? newChart(name);
    const failed = (error) => { chart.note.textContent = `cannot be drawn: ${error.message}`; };
    chart.ready = chart.ready.then(() => change(chart, head, rows, shaded)).catch(failed);
  }
  all.forEach((name, place) => {
    const { figure } = charts.get(name), there = at("charts").children[place];
    if (there !== figure) at("charts").insertBefore(figure, there ?? null);
  });
}
