// The form of a payer's claim: shown when it is time for it, sent without leaving the page, its answer put in its place.
import { readMarkup } from './markup.ts';

/** Shows the form once a payment should have been seen. `now`: Unix seconds. */
export function showClaim(root: HTMLElement, now: number): void {
  const form = root.querySelector<HTMLElement>('[data-shown]');
  if (form && now >= +(form.dataset.shown || 0)) form.hidden = false;
}

/** What was typed and answered stays when other markup comes; returns what puts it there. */
export function holdClaim(root: HTMLElement): () => void {
  const find = () => root.querySelector<HTMLElement>('[data-claim] input');
  const field = find();
  const answer = root.querySelector('[data-answer]');
  const had_focus = field && (root.getRootNode() as Document | ShadowRoot).activeElement === field;
  const { state } = root.dataset;
  return () => {
    const next = find();
    if (!field || !next) return;
    next.replaceWith(field);
    if (had_focus) field.focus();
    // What was found in another state may be over.
    const next_answer = root.querySelector('[data-answer]');
    if (answer && next_answer && root.dataset.state === state) next_answer.replaceWith(answer);
  };
}

/** Sends the form; `done` is called once the answer stands there, or the page itself has it. */
export function sendClaim(form: HTMLFormElement, done: () => void): void {
  const button = form.querySelector('button');
  const answer = form.querySelector<HTMLElement>('[data-answer]');
  if (!button || !answer || button.disabled) return;
  // What is disabled loses the focus.
  const had_focus = (form.getRootNode() as Document | ShadowRoot).activeElement === button;
  button.disabled = true;
  const busy = answer.dataset.busy || '';
  const enable = (): void => {
    button.disabled = false;
    if (had_focus) button.focus();
  };
  const put = (markup: Element | null): void => {
    enable();
    if (markup) answer.textContent = '';
    for (const line of Array.from(markup ? markup.children : [])) answer.appendChild(line);
    done();
  };
  const fail = (): void => {
    answer.textContent = busy;
    enable();
  };
  const field = form.querySelector('input');
  const body = new URLSearchParams({ txid: field ? field.value : '' });
  fetch(form.action, { method: 'POST', credentials: 'omit', headers: { accept: 'text/html' }, body })
    .then((response) => response.text())
    .then((text) => {
      const { root } = readMarkup(text);
      // The page of a refusal is of no invoice.
      if (root?.dataset.invoice) put(root.querySelector('[data-answer]'));
      else fail();
    })
    .catch(fail);
}
