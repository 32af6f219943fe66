// What a program can find wrong with a page as it is drawn: what is cut, lies over something else, or stands outside.
import type { Page } from 'playwright-core';

/** Of a page as it is now. */
export interface Drawn {
  /** What is wrong, in words. */
  faults: string[];
  /** Its visible texts, without those in `bdi`: ours, to be read in the page's language. */
  texts: string[];
}

/** `foreign` are words of a merchant: where directions could mix they must stand isolated. */
export const inspect = (page: Page, foreign: readonly string[]): Promise<Drawn> =>
  page.evaluate(examine, foreign);

/** Letters for which no font is there, drawn as boxes. */
export const boxes = (page: Page): Promise<string[]> => page.evaluate(findBoxes);

/** Runs in the page, so all that it needs is in it. */
function examine(foreign: readonly string[]): Drawn {
  const faults: string[] = [];
  const root = document.querySelector('.gw') ?? document.body;
  // What is only read aloud is cut to nothing, itself or something around it.
  const isCut = (element: Element | null): boolean =>
    element !== null && (getComputedStyle(element).clipPath === 'inset(50%)' || isCut(element.parentElement));
  const isSeen = (element: Element): boolean =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !isCut(element);
  const short = (text: string): string => `“${text.trim().slice(0, 60)}”`;
  const lines: { node: Text; text: string; rect: DOMRect }[] = [];
  const texts: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const parent = node.parentElement as Element;
    if (!node.data.trim() || ['STYLE', 'SCRIPT', 'NOSCRIPT'].includes(parent.tagName) || !isSeen(parent))
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects())
      if (rect.width > 1 && rect.height > 1) lines.push({ node, text: node.data, rect });
    if (parent.closest('bdi, .mark') === null) texts.push(node.data.trim());
    // What is compared or copied by its letters may break anywhere, and scripts without spaces do.
    if (parent.closest('.raw, .hash') === null)
      for (const { 0: word, index } of node.data.matchAll(
        /[\p{Script=Latin}\p{Script=Cyrillic}\p{N}\p{Sc}\u00a0\u202f().,]+/gu,
      )) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
        if (new Set(tops).size > 1) faults.push(`broken: “${word}” of ${short(node.data)}`);
      }
    if (Number.parseFloat(getComputedStyle(parent).fontSize) < 11) faults.push(`tiny: ${short(node.data)}`);
    const rightToLeft = /[\u0590-\u08ff]/;
    const word = foreign.find((one) => node.data.includes(one));
    const mixes = root.getAttribute('dir') === 'rtl' || (word !== undefined && rightToLeft.test(word));
    if (word !== undefined && mixes && parent.closest('bdi, [dir=auto]') === null)
      if (node.data.trim() !== word && !node.data.includes(`\u2068${word}`))
        faults.push(`not isolated: ${short(node.data)}`);
  }
  const width = document.documentElement.clientWidth;
  const wider = document.documentElement.scrollWidth - width;
  if (wider > 0) faults.push(`scrolls sideways by ${wider} px`);
  const isOutside = (outer: DOMRect, inner: DOMRect): boolean =>
    inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 2;
  for (const [at, one] of lines.entries()) {
    if (one.rect.left < -1 || one.rect.right > width + 1) faults.push(`outside: ${short(one.text)}`);
    const box = one.node.parentElement?.closest('.btn, .state, .note, .alert, .raw, .card');
    if (box && isOutside(box.getBoundingClientRect(), one.rect))
      faults.push(`out of its box: ${short(one.text)}`);
    for (const other of lines.slice(at + 1)) {
      if (other.node === one.node) continue;
      const across = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left);
      const down = Math.min(one.rect.bottom, other.rect.bottom) - Math.max(one.rect.top, other.rect.top);
      if (across > 2 && down > 0.35 * Math.min(one.rect.height, other.rect.height))
        faults.push(`over each other: ${short(one.text)} and ${short(other.text)}`);
    }
  }
  for (const element of document.querySelectorAll('body *')) {
    if (!isSeen(element)) continue;
    const { overflowX, overflowY } = getComputedStyle(element);
    const cuts = [overflowX, overflowY].some((overflow) => overflow === 'hidden' || overflow === 'clip');
    const over_x = element.scrollWidth > element.clientWidth + 1;
    if (cuts && element.textContent?.trim() && (over_x || element.scrollHeight > element.clientHeight + 1))
      faults.push(`cut: ${short(element.textContent)}`);
    const { left, right, width: wide } = element.getBoundingClientRect();
    if (/^(A|BUTTON|IMG|svg|INPUT)$/.test(element.tagName) && wide > 0 && (left < -1 || right > width + 1))
      faults.push(`outside: <${element.tagName}>`);
    const should_hold = /^(P|H\d|A|BUTTON|DD|DT|LI|SUMMARY|LABEL)$/.test(element.tagName);
    if (should_hold && !element.textContent?.trim() && !element.querySelector('svg, img, input'))
      faults.push(`empty: ${element.outerHTML.slice(0, 80)}`);
  }
  return { faults: [...new Set(faults)], texts: [...new Set(texts)] };
}

/** Runs in the page. A letter that no font has is drawn as the box of one that cannot be in any. */
function findBoxes(): string[] {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 48;
  const context = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  context.font = `32px ${getComputedStyle(document.querySelector('.gw') ?? document.body).fontFamily}`;
  const drawn = (letter: string): string => {
    context.clearRect(0, 0, 48, 48);
    context.fillText(letter, 4, 36);
    return context.getImageData(0, 0, 48, 48).data.join();
  };
  // Never assigned: a noncharacter, and a place that stays free.
  const missing = ['\u0378', '\u{1fffe}', '\ufdd0'].map(drawn);
  const letters = new Set(
    (document.querySelector('main') ?? document.body).textContent.replace(/[\p{M}\p{Cc}\p{Cf}\p{Z}]/gu, ''),
  );
  return [...letters].filter((letter) => missing.includes(drawn(letter)));
}
