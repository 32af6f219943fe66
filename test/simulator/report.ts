// Tells what a run was and, where a law was broken, what had happened before.
import { featuresOf } from './plan.ts';
import type { RunResult } from './run.ts';

/** An id, a transaction, a block, an address. */
const NAME = /\b[\w-]{30,}\b/g;
const NOTES_SHOWN = 40;
const NOTE_CHARS = 900;

/** One thing that happened, as a line. */
export const lineOf = (step: number, at_ms: number, text: string): string =>
  `${step} ${timeOf(at_ms)} ${text}`;

export function reportOf({ seed, plan, failure, ...counts }: RunResult): string {
  const hours = (counts.virtual_ms / 3_600_000).toFixed(1);
  const lines = [
    `seed ${seed}: ${counts.events} events, ${counts.requests} requests, ${hours} h, ${counts.invoices} invoices, ` +
      `${counts.payments} payments, ${counts.deaths} deaths, ${plan.blockchains.join(' and ')}, digest ${counts.digest.toString(16)}`,
  ];
  if (counts.statements > 0)
    lines.push(
      `${counts.daemons} daemons on PostgreSQL: ${counts.statements} statements, of which ${counts.waits} waited for a lock`,
    );
  if (!failure) return lines.join('\n');
  const names = new Set([failure.text, ...failure.rows].flatMap((text) => text.match(NAME) ?? []));
  const notes = failure.notes.map((note) => ({ ...note, text: note.text() }));
  const about = notes.filter(({ text }) => [...names].some((name) => text.includes(name)));
  const before = notes.slice(-NOTES_SHOWN);
  const show = ({ step, at_ms, text }: (typeof notes)[number]) =>
    `  ${lineOf(step, at_ms, text.slice(0, NOTE_CHARS))}`;
  lines.push('', 'what had happened to it:', ...about.slice(0, NOTES_SHOWN).map(show));
  lines.push('', 'what happened before:', ...before.map(show));
  lines.push('', 'rows:', ...failure.rows.map((row) => `  ${row}`));
  lines.push(
    '',
    `BROKEN at step ${failure.step}, ${timeOf(failure.at_ms)}: ${failure.law}`,
    `  ${failure.text}`,
    `  with ${featuresOf(plan).filter(isTelling).join(', ')}`,
    `  npm run simulate --${counts.statements > 0 ? ` --postgres --daemons ${counts.daemons}` : ''} --seed ${seed}${plan.off.size > 0 ? ` --without ${[...plan.off].join(',')}` : ''}`,
  );
  return lines.join('\n');
}

/** What anyone does every day tells nothing. */
const isTelling = (feature: string): boolean => !feature.startsWith('buying.');

const timeOf = (at_ms: number): string => new Date(at_ms).toISOString().slice(8, 23);
