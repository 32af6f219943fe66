// The page of a mailed link: sends its form, the token within, and says what came of it.

// The token leaves the address bar at once, so that neither the history nor a shared screen has it.
history.replaceState(null, '', location.pathname);

/** What an answer's status means to a person: the name of a text on the page. */
const textFor = (status: number): string => {
  if (status < 300) return 'done';
  if (status === 422) return 'unfit';
  return status === 429 || status >= 500 ? 'later' : 'invalid';
};

function start(): void {
  const root = document.querySelector<HTMLElement>('[data-call]');
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
      const response = await fetch(`${document.body.dataset.base}${root.dataset.call}`, {
        method: 'POST',
        credentials: 'omit',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(Object.fromEntries(new FormData(form))),
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
