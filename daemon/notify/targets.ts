// Where notices to operators go: a mailbox, a chat of Telegram, or an address that takes JSON; each in its own form.

import * as z from 'zod';
import { languageOf } from '../checkout/language.ts';
import { type Clock, seconds } from '../clock.ts';
import type { Mail } from '../mail/mail.ts';
import { noticeEmail } from '../mail/templates.tsx';
import { openSender } from '../process/outgoing.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';
import { checkWebhookUrl, type HttpOut, openHttpOut } from '../webhooks/egress.ts';
import { sendWebhook } from '../webhooks/send.ts';
import { runbookUrl, stepLines } from './steps.ts';

export type Target = Config['notify'][number];

/** What is sent: one line says what it is about, each of the others one thing. */
export interface Message {
  id: string;
  subject: string;
  lines: readonly string[];
  /** For programs: what the lines say, by cause. */
  notices: readonly {
    cause: string;
    text: string;
    found_at: number;
    command: string;
    /** Set where it was over before it was sent. */
    is_over?: true;
  }[];
}

/** With what to do about it, a line for each thing. */
type Advised = Message & { steps: readonly string[] };

/** Why a message was not taken. */
export interface Fault {
  /** In words without secrets. */
  reason: string;
  /** How long the target asks to be left alone; 0 where it does not say. */
  wait_seconds: number;
  /** The group that the chat has become. */
  moved_to?: string;
}

export interface Targets {
  /** Sends once. Null where it was taken; never rejects. */
  send(target: Target, message: Message, signal: AbortSignal): Promise<Fault | null>;
}

export interface TargetsOptions {
  config: Pick<Config, 'telegram' | 'webhook_allow_private' | 'public_url'>;
  mail: Pick<Mail, 'send'>;
  clock: Clock;
  runtime: Runtime;
}

/** Telegram takes 4,096 characters. */
const TELEGRAM_LENGTH = 4_000;
const USER_AGENT = 'gatewayd';
const CONNECT_MS = 5_000;

/** What the status of a refusal means to the operator. */
const TELEGRAM_REMEDIES: Readonly<Record<number, string>> = {
  400: 'the bot does not know this chat: send it a message first, or add it to the group',
  401: 'telegram.bot_token is wrong',
  403: 'the bot was blocked, or is not a member of the group',
  404: 'telegram.bot_token is wrong',
  429: 'too many messages: Telegram asks to wait',
};

/** The part of an address behind its scheme, and its scheme. */
function partsOf(to: string): { scheme: string; rest: string } {
  const at = to.indexOf(':');
  return { scheme: to.slice(0, at), rest: to.slice(at + 1) };
}

/** An address as the operator is shown it: a path or a query may be a key. */
export function shownTarget(to: string): string {
  return /^https?:/.test(to) ? `${new URL(to).origin}/…` : to;
}

export function openTargets({ config, mail, clock, runtime }: TargetsOptions): Targets {
  // The operator chose this host; those of webhooks are chosen by others.
  const telegram = openHttpOut({ allow_private: true, runtime });
  const http = openHttpOut({ allow_private: config.webhook_allow_private, runtime });
  /** Groups that became others, until the settings name those. */
  const moved = new Map<string, string>();
  const post = (chat_id: string, message: Advised, signal: AbortSignal) =>
    sendTelegram(telegram, config.telegram, chat_id, message, signal);
  async function toChat(chat_id: string, message: Advised, signal: AbortSignal): Promise<Fault | null> {
    const fault = await post(moved.get(chat_id) ?? chat_id, message, signal);
    if (!fault?.moved_to || moved.has(chat_id)) return fault;
    moved.set(chat_id, fault.moved_to);
    const line = `The group telegram:${chat_id} is telegram:${fault.moved_to} now: name that in notify.`;
    return post(fault.moved_to, { ...message, lines: [line, ...message.lines] }, signal);
  }
  return {
    async send(target, asked, signal) {
      const { scheme, rest } = partsOf(target.to);
      const message = { ...asked, steps: stepLines(asked.notices, config.public_url) };
      try {
        if (scheme === 'mailto') return await sendMail(mail, rest, message, config.public_url);
        if (scheme === 'telegram') return await toChat(rest, message, signal);
        return await sendJson(http, target, message, {
          timestamp: seconds(clock),
          base: config.public_url,
          signal,
        });
      } catch (error) {
        return faultOf((error as Error).message);
      }
    },
  };
}

/**
 * Whether a target can be reached, without sending anything to a person; a mailbox tells only once it is sent to. Null where
 * it can, otherwise why not, in words without secrets; never rejects.
 */
export async function examineTarget(
  { to }: Target,
  { telegram, webhook_allow_private: allow_private }: TargetsOptions['config'],
  signal: AbortSignal,
  runtime: Runtime,
): Promise<string | null> {
  const { scheme, rest } = partsOf(to);
  if (scheme === 'mailto') return null;
  if (scheme === 'telegram') {
    const http = openHttpOut({ allow_private: true, runtime });
    return (await askTelegram(http, telegram, 'getChat', { chat_id: rest }, signal))?.reason ?? null;
  }
  try {
    checkWebhookUrl(to, { allow_private });
    // Any answer will do: what takes messages need not answer to anything else.
    const { body } = await openSender({ connect_ms: CONNECT_MS, proxyOf: runtime.proxyOf }).send(
      new URL(to),
      {
        method: 'HEAD',
        signal,
      },
    );
    body.destroy();
    return null;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    return code ?? message;
  }
}

async function sendMail(mail: Pick<Mail, 'send'>, to: string, message: Advised, base: string): Promise<null> {
  const { subject } = message;
  const lines = [...message.lines, ...message.steps];
  await mail.send(noticeEmail({ base, to: decodeURIComponent(to), lang: languageOf('en'), subject, lines }));
  return null;
}

/** As plain text: nothing in it is read as markup. */
function sendTelegram(
  http: HttpOut,
  telegram: Config['telegram'],
  chat_id: string,
  { subject, lines, steps }: Advised,
  signal: AbortSignal,
): Promise<Fault | null> {
  // What to do is never what is cut.
  const end = steps.map((step) => `\n${step}`).join('');
  const body = [subject, ...lines.map((line) => `• ${line}`)].join('\n');
  const text = `${body.slice(0, TELEGRAM_LENGTH - end.length)}${end}`.slice(0, TELEGRAM_LENGTH);
  const message = { chat_id, text, link_preview_options: { is_disabled: true } };
  return askTelegram(http, telegram, 'sendMessage', message, signal);
}

/** Null where Telegram did it, else why not. */
async function askTelegram(
  http: HttpOut,
  { api_url, bot_token }: Config['telegram'],
  method: 'sendMessage' | 'getChat',
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Fault | null> {
  const outcome = await http.post(`${api_url}/bot${bot_token}/${method}`, {
    headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT },
    body: JSON.stringify(body),
    signal,
    reads_answer: true,
  });
  if (outcome.kind === 'failed') return faultOf(outcome.error);
  if (outcome.kind === 'interrupted') return faultOf('interrupted before the answer');
  const { http_status, text = '' } = outcome;
  if (http_status === 200) return null;
  const { migrate_to_chat_id: group, retry_after = 0 } = parametersIn(text);
  const remedy = group === undefined ? TELEGRAM_REMEDIES[http_status] : `the group is telegram:${group} now`;
  return {
    reason: `Telegram answered HTTP ${http_status}${remedy ? `: ${remedy}` : ''}`,
    wait_seconds: retry_after,
    ...(group === undefined ? {} : { moved_to: String(group) }),
  };
}

const faultOf = (reason: string): Fault => ({ reason, wait_seconds: 0 });

/** A wait beyond this is taken as this. */
const MOST_WAIT_SECONDS = 3600;
const parameters = z.object({
  parameters: z.object({
    migrate_to_chat_id: z.int().optional(),
    retry_after: z
      .int()
      .nonnegative()
      .transform((seconds) => Math.min(seconds, MOST_WAIT_SECONDS))
      .optional(),
  }),
});

/** What Telegram adds to a refusal; empty where it adds nothing. */
function parametersIn(text: string): z.output<typeof parameters>['parameters'] {
  try {
    return parameters.safeParse(JSON.parse(text)).data?.parameters ?? {};
  } catch {
    return {};
  }
}

async function sendJson(
  http: HttpOut,
  { to, secret }: Target,
  { id, subject, lines, notices, steps }: Advised,
  { timestamp, base, signal }: { timestamp: number; base: string; signal: AbortSignal },
): Promise<Fault | null> {
  const body = JSON.stringify({
    type: 'operator.notice',
    timestamp: new Date(timestamp * 1000).toISOString(),
    api_version: 'v1',
    // What chat servers show of an incoming webhook.
    text: [subject, ...lines, ...steps].join('\n'),
    data: {
      subject,
      notices: notices.map((notice) => ({ ...notice, runbook_url: runbookUrl(notice.cause, base) })),
    },
  });
  const { error } = await sendWebhook(http, {
    event_id: id,
    url: to,
    body,
    secrets: secret === undefined ? [] : [secret],
    timestamp,
    user_agent: USER_AGENT,
    signal,
  });
  return error === null ? null : faultOf(error);
}
