// `gatewayd help runbook` and `gatewayd help alerts`: what to do when something is wrong, and the rules that wake for it.
import { alertRules } from '../runbook/alerts.ts';
import { sections } from '../runbook/sections.ts';
import { runbookText } from '../runbook/text.ts';
import { ConfigError } from '../settings/config.ts';
import { configOf } from './options.ts';

/** Prints a topic; the runbook needs no settings, which may be what is wrong. Throws ConfigError. */
export function help(topic: string, section: string | undefined, options: Record<string, unknown>): void {
  const text = topic === 'alerts' ? alertRules(configOf(options).config.public_url) : runbookText(section);
  if (text === undefined)
    throw new ConfigError(
      `the runbook has no section ${section}, but: ${sections.map(({ anchor }) => anchor).join(', ')}`,
    );
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}
