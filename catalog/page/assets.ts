/** The files of the pages. Nothing comes from elsewhere. */

export const STYLE = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 26rem; margin: 0 auto; padding: 2rem 1rem; overflow-wrap: anywhere; }
main.wide { max-width: 44rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
label { display: block; font-weight: 600; }
input { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; border: 1px solid #767676; border-radius: .25rem; }
button { padding: .5rem 1rem; font: inherit; color: #fff; background: #1a4f8b; border: 1px solid #1a4f8b; border-radius: .25rem; cursor: pointer; }
:focus-visible { outline: 3px solid #c25e00; outline-offset: 2px; }
button.second { color: inherit; background: transparent; margin-left: .5rem; }
.code { display: block; padding: .75rem; border: 1px solid #767676; border-radius: .25rem; font-family: ui-monospace, monospace; user-select: all; }
.codes { columns: 2; }
code { font-family: ui-monospace, monospace; font-size: 1rem; }
summary { cursor: pointer; padding: .25rem 0; }
input[type=checkbox] { width: auto; margin-right: .5rem; }
img { background: #fff; }
.error { padding: .75rem; border-left: .3rem solid #b00020; }
ul { padding: 0; list-style: none; }
li { padding: .5rem 0; border-top: 1px solid #767676; }
`;

/** Takes an invitation out of the address, where no server and no log sees it, into the form. */
export const INVITATION_SCRIPT = `const field = document.getElementById('invitation_token');
if (field !== null && location.hash.length > 1) {
  field.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname + location.search);
}
`;
