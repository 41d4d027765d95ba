import { keptText } from "@isthmus/core";
/** What the page for logging in shows. */
export interface LoginPage {
  /** Where to go afterwards: a path of this console. */
  readonly next: string;
  /** Whom a token must be made for. */
  readonly audience: string;
  /** Why the last try failed. */
  readonly problem?: string;
}

/** The page for logging in: HTML without scripts. */
export function loginPage({ next, audience, problem }: LoginPage): string {
  const alert = problem === undefined ? "" : `<p role="alert" id="problem">${escaped(keptText(problem, MOST_CHARACTERS))}</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Log in · Isthmus console</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Isthmus console</h1>
<p>Log in with a token of the management cluster's Kubernetes API. You see what that user may list there.</p>
${alert}
<form method="post" action="/login">
<input type="hidden" name="next" value="${escaped(next)}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus${problem === undefined ? "" : ' aria-describedby="problem" aria-invalid="true"'}>
<button type="submit">Log in</button>
</form>
<p>A ServiceAccount's token for this console alone:</p>
<pre>kubectl create token NAME --namespace NAMESPACE --audience=${escaped(audience)}</pre>
</main>
</body>
</html>
`;
}

const MOST_CHARACTERS = 500;

const STYLE = `
body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#fff;color:#1a1b1e}
main{max-width:34rem;margin:10vh auto;padding:0 1rem}
h1{font-size:1.5rem}
form{display:grid;gap:.5rem;margin:1.5rem 0}
label{font-weight:600}
input[type=password]{font:inherit;padding:.5rem;border:1px solid #6b7280;border-radius:4px;background:inherit;color:inherit}
button{font:inherit;font-weight:600;padding:.5rem 1rem;border:0;border-radius:4px;background:#1c5fa8;color:#fff;justify-self:start;cursor:pointer}
:focus-visible{outline:3px solid #1c5fa8;outline-offset:2px}
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.75rem;border-radius:4px;background:#f1f3f5}
[role=alert]{padding:.5rem .75rem;border-left:4px solid #c92a2a;background:#fff0f0;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){
body{background:#1a1b1e;color:#e9ecef}
button{background:#a5d0ff;color:#10131a}
:focus-visible{outline-color:#a5d0ff}
pre{background:#25262b}
[role=alert]{background:#3b1d1d}
}`;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
