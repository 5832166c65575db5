// Wide tables scroll by themselves: let the keyboard reach them, once the theme has wrapped them.
const reach = () => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
};
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", reach);
addEventListener("load", reach);
// The theme's search is a dialog without a name.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
