"use strict";
// Asks for the plan of what is filled in, and starts it.
const token = new URLSearchParams(location.search).get("token") ?? "";
const at = (id) => document.getElementById(id);
let planned = null;
at("back").href = `./?token=${encodeURIComponent(token)}`;
async function ask(path, what, words) {
  at("said").textContent = words;
  for (const one of document.querySelectorAll("button")) one.disabled = true;
  try {
    const headers = { "x-assay-token": token, "content-type": "application/json" };
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(what) });
    const text = await answer.text();
    at("said").textContent = answer.ok ? "" : text.trim();
    at("said").className = answer.ok ? "quiet" : "error";
    return answer.ok ? JSON.parse(text) : null;
  } catch {
    at("said").textContent = "not connected: assay watch has ended";
    return null;
  } finally {
    for (const one of document.querySelectorAll("button")) one.disabled = false;
  }
}
function forget() {
  planned = null;
  at("plan-text").hidden = at("start").hidden = true;
}
at("new").addEventListener("input", forget);
at("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  forget();
  const answers = Object.fromEntries([...new FormData(at("new"))].map(([name, value]) => [name, value.trim()]));
  const found = await ask("plan", answers, "planning …");
  if (!found) return;
  planned = found.file;
  at("plan-text").textContent = found.plan;
  at("plan-text").hidden = at("start").hidden = false;
  at("said").textContent = `Written to ${planned}.`;
  at("start").focus();
});
at("start").addEventListener("click", async () => {
  if (await ask("start", { file: planned }, "starting …")) location.href = at("back").href;
});
