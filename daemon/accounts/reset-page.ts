// The page that a recovery mail links to: one form, which sends token and new password.
import { createHash } from 'node:crypto';
import type { Raw } from '../../src/api/describe/endpoint.ts';
import { MAX_PASSWORD, MIN_PASSWORD } from '../../src/api/endpoints/login.ts';

const STYLE = `body{margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1f2328;background:#fff}
main{max-width:420px;margin:8vh auto 0}label{display:block;margin:16px 0 4px}
input,button{box-sizing:border-box;width:100%;padding:10px 12px;font:inherit;border:1px solid #8c959f;border-radius:6px}
button{margin-top:16px;border:0;color:#fff;background:#1a5fb4;cursor:pointer}button:disabled{opacity:.6}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}input{color:inherit;background:#161b22}}`;

// The token leaves the address bar at once, so that neither history nor a shared screen keeps it.
const SCRIPT = `const form = document.querySelector('form');
const said = document.querySelector('[role=status]');
history.replaceState(null, '', location.pathname);
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  button.disabled = true;
  said.textContent = '';
  const { token, new_password } = Object.fromEntries(new FormData(form));
  try {
    const response = await fetch('/api/v1/reset-password/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, new_password }),
    });
    const body = await response.json();
    const detail = Array.isArray(body.detail) ? body.detail.map((each) => each.msg).join('. ') : body.detail;
    said.textContent = response.ok ? body.message : detail;
    form.hidden = response.ok;
  } catch {
    said.textContent = 'The service cannot be reached. Try again.';
  }
  button.disabled = false;
});`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What a token can be made of; nothing else reaches the page. */
const TOKEN = /^[\w.-]*$/;

export function resetPage(token: string): Raw {
  const value = TOKEN.test(token) ? token : '';
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>Set a new password</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Set a new password</h1>
<form method="post">
<input type="hidden" name="token" value="${value}">
<label for="new_password">New password</label>
<input id="new_password" name="new_password" type="password" autocomplete="new-password" required minlength="${MIN_PASSWORD}" maxlength="${MAX_PASSWORD}">
<button>Set password</button>
</form>
<p role="status"></p>
<noscript><p>This page needs JavaScript. Without it, send the token of the mail to POST /api/v1/reset-password/.</p></noscript>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
  return { body, headers: { 'content-security-policy': POLICY, 'x-frame-options': 'DENY' } };
}
