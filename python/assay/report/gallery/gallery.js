// Shows the rows that hold every word of the search and have each level that was chosen.
const search = document.getElementById("search");
const choices = [...document.querySelectorAll("select[data-filter]")];
const results = [...document.querySelectorAll("tbody tr")];
function isChosen(row, choice) {
  const levels = row.getAttribute(`data-of-${choice.dataset.filter}`) ?? "";
  return !choice.value || levels.split("\n").includes(choice.value);
}
function filterResults() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of results) {
    const text = row.textContent.toLowerCase();
    const isShown = words.every((word) => text.includes(word)) && choices.every((one) => isChosen(row, one));
    row.hidden = !isShown;
    shown += isShown;
  }
  const all = results.length;
  document.getElementById("shown").textContent = shown === all ? `${all} results` : `${shown} of ${all} results`;
}
for (const one of [search, ...choices]) one.addEventListener("input", filterResults);
document.querySelector("form.filters").addEventListener("submit", (event) => event.preventDefault());
filterResults();
