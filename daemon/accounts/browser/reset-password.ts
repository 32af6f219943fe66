// The page of a recovery mail: sends the token and the new password, and says what came of it.

// The token leaves the address bar at once, so that neither the history nor a shared screen has it.
history.replaceState(null, '', location.pathname);

/** What an answer's status means to a person: the name of a text on the page. */
const textFor = (status: number): string => {
  if (status < 300) return 'done';
  if (status === 422) return 'length';
  return status === 429 || status >= 500 ? 'later' : 'invalid';
};

function start(): void {
  const root = document.querySelector<HTMLElement>('[data-reset]');
  const form = root?.querySelector('form');
  const button = form?.querySelector('button');
  const message = root?.querySelector<HTMLElement>('[data-message]');
  if (!root || !form || !button || !message) return;
  const show = (name: string): void => {
    message.className = name === 'done' ? 'state good' : 'state warn';
    message.textContent = root.dataset[name] || '';
    message.hidden = false;
    form.hidden = name === 'done';
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    message.hidden = true;
    try {
      const { token, new_password } = Object.fromEntries(new FormData(form));
      const response = await fetch(`${document.body.dataset.base}/api/v1/reset-password/`, {
        method: 'POST',
        credentials: 'omit',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token, new_password }),
      });
      show(textFor(response.status));
    } catch {
      show('later');
    }
    button.disabled = false;
  });
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
else start();
