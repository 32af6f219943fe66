// The runbook for a terminal.
import { FIRST, type Section, sections } from './sections.ts';

const WIDTH = 96;

/** All of it, or one section; undefined where there is none of that name. */
export function runbookText(anchor?: string): string | undefined {
  if (anchor === undefined)
    return [...FIRST.map((each) => wrapped(each, '')), ...sections.map(textOf)].join('\n\n');
  const found = sections.find((section) => section.anchor === anchor);
  return found && textOf(found);
}

function textOf({ anchor, title, means, steps, never = [], ...leads }: Section): string {
  return [
    `${title}  [${anchor}]`,
    ...leadsOf(leads).map((lead) => wrapped(lead, '  ')),
    wrapped(means, '  '),
    ...steps.map((step) => wrapped(step, '  ', '- ')),
    ...never.map((each) => wrapped(each, '  ', '! ')),
  ].join('\n');
}

/** What leads to a section, a sentence for each kind. */
export function leadsOf({
  notices = [],
  alerts = [],
  exits = [],
  doctor = [],
}: Pick<Section, 'notices' | 'alerts' | 'exits' | 'doctor'>): string[] {
  const named = (kind: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${kind}: ${names.join(', ')}`];
  return [
    ...named('Notices', notices),
    ...named('Alerts', alerts),
    ...named('Exit codes', exits),
    ...named('Lines of doctor', doctor),
  ];
}

/** Lines of at most so many characters, but for words that are longer. */
function wrapped(text: string, indent: string, mark = ''): string {
  const lines: string[] = [];
  let line = mark;
  for (const word of text.split(' ')) {
    const is_begun = line.trim() !== mark.trim();
    if (is_begun && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = ' '.repeat(mark.length) + word;
    } else line += (is_begun ? ' ' : '') + word;
  }
  return [...lines, line].map((each) => indent + each).join('\n');
}
