"use strict";
// Draws lines over the seconds of a measurement, in the look of a report's charts.
const SVG = "http://www.w3.org/2000/svg";
const WIDE = 360, HIGH = 230, LEFT = 44, RIGHT = 8, TOP = 22, BOTTOM = 52;
const MOST_POINTS = 150;
const DASHES = ["", "6 3", "2 2"];
function part(kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
function short(value) {
  if (value >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (value >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  return `${+value.toPrecision(3)}`;
}
// A point is so many seconds together, as in a report; counts as their mean, times as the longest.
function together(values, size, isTime) {
  const points = [];
  for (let at = 0; at < values.length; at += size) {
    const known = values.slice(at, at + size).filter((one) => one !== null && one !== undefined);
    const sum = known.reduce((all, one) => all + one, 0);
    points.push(known.length ? (isTime ? Math.max(...known) : sum / known.length) : null);
  }
  return points;
}
function roundSteps(high, number, least = 0) {
  const rough = Math.max(least, high / number), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((one) => one * power >= rough) * power;
  const found = [];
  for (let at = 0; at <= high * 1.0001; at += step) found.push(+at.toPrecision(12));
  return found;
}
function decades(low, high) {
  const found = [];
  const factors = high / low > 1000 ? [1] : high / low > 20 ? [1, 3] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const factor of factors) {
      const at = +(factor * 10 ** power).toPrecision(3);
      if (at >= low * 0.99 && at <= high * 1.01) found.push(at);
    }
  return found;
}
class Chart {
  constructor(place, title, unit, { isTime = false } = {}) {
    this.unit = unit;
    this.isTime = isTime;
    this.figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    this.box = document.createElement("div");
    this.box.className = "chart";
    this.note = document.createElement("p");
    this.figure.append(caption, this.box, this.note);
    this.title = title;
    place.append(this.figure);
  }
  draw(numbers, lines, stalled) {
    const shown = lines.filter((one) => one.values.some((value) => value !== null && value !== undefined));
    this.figure.hidden = !shown.length || numbers.length < 2;
    if (this.figure.hidden) return;
    const size = Math.ceil(numbers.length / MOST_POINTS);
    const drawn = shown.map((one) => ({ ...one, points: together(one.values, size, this.isTime) }));
    const all = drawn.flatMap((one) => one.points).filter((one) => one !== null);
    const [from, to] = [numbers[0], numbers[numbers.length - 1] + 1];
    const x = (second) => LEFT + ((second - from) / (to - from)) * (WIDE - LEFT - RIGHT);
    const plot = HIGH - TOP - BOTTOM;
    let low = 0, high = Math.max(...all, 1e-9) * 1.05, y, ticks;
    if (this.isTime) {
      low = Math.min(...all) / 1.2;
      high = Math.max(...all) * 1.2;
      if (high / low < 10) [low, high] = [low / Math.sqrt((10 * low) / high), high * Math.sqrt((10 * low) / high)];
      ticks = decades(low, high);
      y = (value) => TOP + plot - (Math.log(value / low) / Math.log(high / low)) * plot;
    } else {
      ticks = roundSteps(high, 5);
      y = (value) => TOP + plot - (value / high) * plot;
    }
    const svg = part("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" });
    const last = drawn.map((one) => `${one.name} ${short(one.points.findLast((value) => value !== null))}`);
    svg.append(part("title", {}, `${this.title}, seconds ${from + 1} to ${to}: last ${last.join(", ")} ${this.unit}`));
    svg.append(part("text", { x: 0, y: 10 }, this.isTime ? `${this.unit} (logarithmic)` : this.unit));
    for (const tick of ticks) {
      svg.append(part("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y(tick), y2: y(tick) }));
      svg.append(part("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
    }
    for (const second of stalled)
      svg.append(part("rect", { class: "stall", x: x(second), width: Math.max(1, x(second + 1) - x(second)), y: TOP, height: plot }));
    for (const tick of roundSteps(to - from, 6, 1)) {
      if (tick + from > to) continue;
      svg.append(part("text", { x: x(from + tick), y: HIGH - BOTTOM + 16, "text-anchor": "middle" }, short(from + tick)));
    }
    svg.append(part("line", { class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: TOP + plot, y2: TOP + plot }));
    svg.append(part("text", { x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - BOTTOM + 31, "text-anchor": "middle" }, "second of the measurement"));
    drawn.forEach((one) => {
      let path = "", isGap = true;
      one.points.forEach((value, place) => {
        if (value === null || (this.isTime && value <= 0)) { isGap = true; return; }
        const middle = from + place * size + Math.min(size, numbers.length - place * size) / 2;
        path += `${isGap ? "M" : "L"}${x(middle).toFixed(1)} ${y(value).toFixed(1)}`;
        isGap = false;
      });
      svg.append(part("path", { class: "line", d: path, stroke: one.colour, "stroke-dasharray": one.dash }));
    });
    if (drawn.length > 1) {
      let at = LEFT;
      for (const one of drawn) {
        svg.append(part("line", { class: "line", x1: at, x2: at + 22, y1: HIGH - 6, y2: HIGH - 6, stroke: one.colour, "stroke-dasharray": one.dash }));
        svg.append(part("text", { x: at + 27, y: HIGH - 2 }, one.name));
        at += 46 + one.name.length * 6;
      }
    }
    this.box.replaceChildren(svg);
    const notes = size > 1 ? [`a point is ${this.isTime ? "the longest" : "the mean"} of ${size} seconds`] : [];
    if (stalled.length) notes.push("shaded: nothing ended for half a second or more");
    this.note.textContent = notes.join("; ");
  }
}
