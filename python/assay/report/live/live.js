// The stream of the server, the numbers of the last second, and what has ended.
const END_STATES = ["done", "failed", "exceeded", "refused", "interrupted"];
const NOT_VALID = ["failed", "interrupted", "invalid", "refused", "exceeded", "unreliable"];
let seconds = [], fleet = null, status = null, place = "", source = null, draws = 0;
function count(value) {
  return Math.round(value).toLocaleString("en").replaceAll(",", " ");
}
function rate(value) {
  return value >= 100 ? count(value) : `${+value.toPrecision(3)}`;
}
function time(ns) {
  const [size, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  return `${+(ns / size).toPrecision(3)} ${unit}`;
}
function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 100) return `${whole} s`;
  if (whole < 5400) return `${Math.round(whole / 60)} min`;
  if (whole < 129600) return `${+(whole / 3600).toFixed(1)} h`;
  return `${+(whole / 86400).toFixed(1)} days`;
}
function say(words, name) {
  if (at("state").textContent !== words) at("state").textContent = words;
  at("state").className = `state ${name}`;
}
function sayLost() {
  say("not connected: assay watch has ended, or is being started anew", "lost");
}
function showLeft() {
  if (!status?.is_under_way) { at("left").textContent = ""; return; }
  const passed = Date.now() / 1000 - status.as_of_unix_ns / 1e9;
  const { stage } = status, last = whole().at(-1)?.second;
  // At least what the measurement under way still lasts.
  const rest = stage?.duration_s && last !== undefined && !END_STATES.includes(stage.state) ? stage.duration_s - last - 1 : 0;
  const left = Math.max(rest, status.left_s - passed);
  const known = status.is_left_known ? "about" : "at least";
  at("left").textContent = left >= 1 ? `${known} ${duration(left)} left` : status.is_left_known ? "" : "time left not known yet";
}
function showPlan() {
  const { states, planned, ended, stage } = status;
  at("plan").hidden = !planned;
  const bar = at("bar"), size = Math.ceil(states.length / 240);
  bar.classList.toggle("dense", states.length > 80);
  bar.replaceChildren();
  for (let from = 0; from < states.length; from += size) {
    const some = states.slice(from, from + size);
    const isNow = status.is_under_way && stage && stage.number > from && stage.number <= from + size && !END_STATES.includes(stage.state);
    const worst = [...NOT_VALID, "planned"].find((word) => some.includes(word)) ?? some[0];
    const one = make("span", undefined, isNow ? "now" : worst);
    one.title = `run ${from + 1}${size > 1 ? ` to ${from + some.length}` : ""}: ${isNow ? "under way" : worst}`;
    bar.append(one);
  }
  bar.setAttribute("aria-valuemax", planned);
  bar.setAttribute("aria-valuenow", ended);
  const text = status.is_under_way && stage ? `run ${stage.number} of ${planned}` : `${ended} of ${planned} run${planned > 1 ? "s" : ""} ended`;
  // The colours of the bar in words.
  const verdicts = [...NOT_VALID, "valid"]
    .map((word) => [states.filter((state) => state === word).length, word])
    .filter(([number]) => number)
    .map(([number, word]) => `${count(number)} ${word}`)
    .join(", ");
  bar.setAttribute("aria-valuetext", verdicts ? `${text}, ${verdicts}` : text);
  at("progress").textContent = text;
  at("verdicts").textContent = verdicts;
  showLeft();
}
// Those in which transactions begin; what ends later belongs to none of them.
function whole() {
  const most = status?.stage?.duration_s ?? Infinity;
  return seconds.filter((one) => one.second < most);
}
function showRun() {
  const { stage } = status;
  at("now").hidden = !stage;
  if (!stage) return;
  at("run").textContent = (status.is_over ? "Last run: " : "") + stage.name + (stage.repetition > 1 ? `, repetition ${stage.repetition}` : "");
  const doing = stage.step || stage.state;
  const last = whole().at(-1)?.second;
  const unmeasured = stage.unmeasured_s ? `, ${duration(stage.unmeasured_s)} unmeasured first` : "";
  const measured = last === undefined ? unmeasured : stage.duration_s ? `: second ${last + 1} of ${count(stage.duration_s)}` : `: second ${last + 1}`;
  at("step").textContent = doing + (stage.step ? measured : "") + (stage.reason ? `: ${stage.reason}` : "");
}
function showNumbers() {
  const last = whole().at(-1), list = at("numbers");
  list.replaceChildren();
  showMachine(status?.stage?.state === "driving" ? last?.machine ?? {} : {});
  if (!last) return;
  const lost = (fleet?.reports ?? []).filter((one) => (one.lost_after_s ?? null) !== null);
  // Those of lost generators are in no second.
  const sum = (name) => [...seconds, ...name === "unknown" ? lost : []].reduce((all, one) => all + (one[name] ?? 0), 0);
  const add = (name, value, more, isAlarm) => {
    const box = make("div", undefined, isAlarm ? "alarm" : "");
    const shown = make("dd", value);
    if (more) shown.append(" ", make("small", more));
    box.append(make("dt", name), shown);
    list.append(box);
  };
  // When the run has ended, its last second, perhaps a part of one, says nothing of it.
  const isNow = status && !END_STATES.includes(status.stage?.state);
  if (isNow) {
    add("TPS", rate(last.ok), last.offered === undefined || last.offered === null ? "" : `of ${rate(last.offered)}`);
    if (last.p50_ns) add("median", time(last.p50_ns));
    if (last.p99_ns) add("p99", time(last.p99_ns));
    if (last.max_ns) add("longest", time(last.max_ns));
    if (last.lag_p99_ns) add("lag, p99", time(last.lag_p99_ns));
    add("clients", count(last.clients ?? 0));
  }
  add("ok", count(sum("ok")));
  for (const [name, isAlarm] of [["aborted", false], ["failed", true], ["unknown", true], ["late", false], ["skipped", true], ["retries", false]])
    if (sum(name)) add(name, count(sum(name)), "", isAlarm);
}
function showEnded() {
  at("ended").hidden = !status.cells.length;
  at("cells").replaceChildren(...status.cells.map((cell) => {
    const row = document.createElement("tr");
    const name = make("th", cell.name);
    name.scope = "row";
    row.append(name);
    const add = (label, text, kind) => { const one = make("td", text, kind); one.dataset.label = label; row.append(one); };
    add("runs", `${cell.ended} of ${cell.repetitions}`, "n");
    add("TPS", cell.throughput_per_s === null ? "" : rate(cell.throughput_per_s), "n");
    add("p99", cell.latency_p99_ns === null ? "" : time(cell.latency_p99_ns), "n");
    add("verdict", cell.verdict + (cell.reason ? `: ${cell.reason}` : ""), `long verdict-${cell.verdict}`);
    return row;
  }));
  at("more").textContent = status.more_cells ? `${count(status.more_cells)} more that ended before are in the report.` : "";
  const links = at("links");
  links.replaceChildren();
  if (status.experiment) {
    const link = make("a", status.is_over ? "Report" : "Report so far");
    link.href = own(`report/${status.experiment}`);
    const all = make("a", "All experiments");
    all.href = own("experiments");
    links.append(link, " · ", all, " · ");
  }
  const begin = make("a", "New experiment");
  begin.href = own("new");
  links.append(begin);
}
function showWarnings(warnings) {
  at("warned").hidden = !warnings.length;
  at("warned-names").textContent = `${warnings.length} warning${warnings.length > 1 ? "s" : ""}: ${warnings.map((one) => one.name).join(", ")}`;
  at("warnings").replaceChildren(...warnings.map((one) => {
    const item = document.createElement("li");
    const now = one.is_under_way ? ", under way" : "";
    const runs = one.runs.length > 4 ? `${one.runs.length} runs` : `run ${one.runs.join(", ")}`;
    item.append(make("b", one.name), ` (${runs}${now}): ${[one.cause, one.details.join("; ")].filter(Boolean).join(": ")}.`);
    return item;
  }));
}
function showAnswer() {
  const over = at("answer");
  over.hidden = !status.is_over;
  over.replaceChildren();
  if (!status.is_over) return;
  const link = make("a", "The report");
  link.href = own(`report/${status.experiment}`);
  const whole = status.ended === status.planned;
  over.append(whole ? "The experiment has ended. " : "The experiment was interrupted. ", link, " has all its numbers.");
}
function showMachine(one) {
  const parts = [];
  for (const [name, words] of [["machine_cpus", "machine"], ["server_cpus", "server"], ["client_cpus", "client"], ["other_cpus", "other programs"]])
    if (one[name] !== undefined) parts.push(`${words} ${+one[name].toPrecision(2)}`);
  if (parts.length) parts.splice(0, parts.length, `Processors in use: ${parts.join(", ")}`);
  if (one.client_busy !== undefined) parts.push(`the client's threads are ${Math.round(100 * one.client_busy)} % busy`);
  const requests = ["reads", "writes", "flushes"].filter((name) => one[name] !== undefined);
  if (one.device) parts.push(`device ${one.device}: ${requests.map((name) => `${rate(one[name])} ${name}/s`).join(", ")}`);
  at("machine").textContent = parts.join(" · ");
}
function showGenerators(found) {
  fleet = found;
  draw();
  at("fleet").hidden = !fleet;
  at("fewer").hidden = !fleet?.clients_left;
  at("fewer").textContent = fleet?.clients_left ? `A load generator was lost: measured ${fleet.clients_left}.` : "";
  at("fleet-name").textContent = `Load generators${fleet?.are_at_work ? ", so far" : ""}`;
  at("generators").replaceChildren(...(fleet?.reports ?? []).map((one) => {
    const isLost = (one.lost_after_s ?? null) !== null;
    const row = make("tr", undefined, isLost ? "alarm" : ""), name = make("th", one.machine);
    name.scope = "row";
    row.append(name);
    const add = (label, text, kind) => { const cell = make("td", text, kind); cell.dataset.label = label; row.append(cell); };
    add("clients", count(one.clients), "n");
    const measured = isLost ? one.lost_after_s - fleet.unmeasured_s : fleet.elapsed_s;
    add("ok", count(one.ok), "n");
    add("unknown", one.unknown ? count(one.unknown) : "", "n");
    add("TPS", measured > 0 ? rate(one.ok / measured) : "", "n");
    add("busy", (one.cpu_share ?? null) === null ? "" : `${Math.round(100 * one.cpu_share)} %`, "n");
    add("load", (one.load_1min ?? null) === null ? "" : one.load_1min.toFixed(1), "n");
    add("lag, p99", one.lag_p99_ns ? time(one.lag_p99_ns) : "", "n");
    add("lost", isLost ? `after ${duration(one.lost_after_s)}` : "");
    return row;
  }));
}
async function stop(what, button, question) {
  if (!confirm(question)) return;
  button.disabled = true;
  try {
    const headers = { "x-assay-token": token, "content-type": "application/json" };
    const answer = await fetch("stop", { method: "POST", headers, body: JSON.stringify(what) });
    say(answer.ok ? "stopping …" : (await answer.text()).trim(), "live");
    if (!answer.ok) button.disabled = false;
  } catch { say("not connected", "lost"); }
}
at("stop").addEventListener("click", () => stop({ experiment: status.experiment }, at("stop"), "Stop the experiment? What was measured so far is kept."));
let stopped = 0;
at("stop-run").addEventListener("click", () => {
  stopped = status.stage.run;
  stop({ experiment: status.experiment, run: stopped }, at("stop-run"), "Stop this run? What it measured so far is kept, the run is invalid, and the next one begins.");
});
function showStatus(found) {
  status = found;
  const stage = found.stage;
  // Another run begins: the seconds of the one before are not its own.
  const [run, , record] = place.split(":");
  if (place && ((stage && `${stage.run}` !== run) || `${found.begun_ms}` !== record)) { seconds = []; place = ""; draw(); }
  at("title").textContent = found.experiment ? `Experiment ${found.experiment}: ${found.title}` : "No experiment yet";
  document.title = found.is_under_way && stage ? `${stage.number}/${found.planned} ${found.title}` : found.title || "assay watch";
  if (found.problem) say(found.problem, "lost");
  else if (!found.experiment) say("waiting for assay run", "");
  else if (at("stop").disabled && found.is_under_way) say("stopping …", "live");
  else say(found.is_over ? "ended" : "under way", found.is_over ? "" : "live");
  at("stop").hidden = !found.is_under_way;
  at("stop-run").hidden = !found.is_under_way || !stage || END_STATES.includes(stage.state);
  if (stage?.run !== stopped) at("stop-run").disabled = false;
  if (!found.is_under_way) at("stop").disabled = false;
  showPlan();
  showRun();
  showNumbers();
  showEnded();
  showAnswer();
}
function draw() {
  if (draws) return;
  // Once for all seconds that come together.
  draws = setTimeout(() => { draws = 0; showNumbers(); if (status) { showRun(); showLeft(); } }, 50);
}
function showSecond(event) {
  const [run, step, , record] = event.lastEventId.split(":");
  const found = `${run}:${step}:${record}`;
  if (found !== place) { place = found; seconds = []; }
  const one = JSON.parse(event.data);
  // When its step has ended, a second comes again, as it was observed.
  const before = seconds.length && one.second <= seconds.at(-1).second ? seconds.findIndex((other) => other.second === one.second) : seconds.length;
  if (before >= 0) seconds[before] = one;
  draw();
}
function listen() {
  const [run, step, record] = place.split(":");
  const last = seconds.length ? `&last=${run}:${step}:${seconds.at(-1).second}:${record}` : "";
  source = new EventSource(own("events") + last);
  source.addEventListener("status", (event) => showStatus(JSON.parse(event.data)));
  source.addEventListener("second", showSecond);
  source.addEventListener("warnings", (event) => showWarnings(JSON.parse(event.data)));
  source.addEventListener("generators", (event) => showGenerators(JSON.parse(event.data)));
  source.addEventListener("charts", showCharts);
  source.addEventListener("end", () => { source.close(); setTimeout(next, 5000); });
  source.onerror = () => {
    sayLost();
    // A browser gives up where it is refused; the server may only not be there yet.
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  };
  source.onopen = () => { if (status) showStatus(status); };
}
// After an experiment another one may begin.
async function next() {
  try {
    const answer = await fetch(own("latest"));
    const { experiment, begun_ms: begun, is_over: isOver } = await answer.json();
    if (experiment !== status.experiment || begun !== status.begun_ms || !isOver) { listen(); return; }
    showStatus(status);
  } catch { sayLost(); }
  setTimeout(next, 5000);
}
listen();
