// What is examined of the way to and from this deployment: the public URL, its proxy, mail, and a time server.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createTransport } from 'nodemailer';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { findMeta, LAST_HEARTBEAT_AT } from '../../data/meta.ts';
import { shownProxy } from '../../src/proxy.ts';
import { examineTarget, shownTarget } from '../notify/targets.ts';
import { openSender, readAnswer } from '../process/outgoing.ts';
import { runtimeOf } from '../process/runtime.ts';
import { type Config, localUrl } from '../settings/config.ts';
import { type Check, type Finding, failed, ok, PATIENCE_MS, warning } from './finding.ts';
import { isLocal } from './place.ts';

const NTP_PORT = 123;
const NTP_BYTES = 48;
/** Version 4, mode client. */
const NTP_REQUEST = 0x23;
const NTP_SENT_AT = 40;
/** From 1900 to 1970. */
const NTP_EPOCH_SECONDS = 2_208_988_800;
/** One is sent each minute. */
const HEARTBEAT_LATE_SECONDS = 150;
const CLOCK_WARN_SECONDS = 2;
const CLOCK_FAIL_SECONDS = 30;

/** Null where it answers as a daemon does, else what came of it. */
async function asked(base_url: string, config: Config): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const sender = openSender({ connect_ms: PATIENCE_MS, proxyOf: runtimeOf(config).proxyOf });
    const answer = await readAnswer(sender, new URL(`${base_url}/health`), { method: 'GET', signal });
    const body = (await answer.json().catch(() => ({}))) as { message?: unknown };
    if (answer.status === 200 && body.message === 'ok') return null;
    return `it answers ${answer.status}`;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    return code ?? message;
  }
}

export const publicUrl: Check = async ({ config }) => {
  const { public_url, host, port, network } = config;
  const [fault, own] = await Promise.all([asked(public_url, config), asked(localUrl(host, port), config)]);
  const findings: Finding[] = [];
  if (fault === null) findings.push(ok('public url', `${public_url} answers`));
  else if (own !== null)
    findings.push(
      warning(
        'public url',
        `no daemon runs here, and ${public_url} cannot be reached (${fault})`,
        'gatewayd start',
      ),
    );
  else
    findings.push(
      failed(
        'public url',
        `the daemon answers here, but not at ${public_url} (${fault})`,
        'check public_url, DNS and the proxy in front of it',
      ),
    );
  if (network === 'mainnet' && !public_url.startsWith('https:'))
    findings.push(
      warning(
        'public url',
        'it is not https: anyone on the way could change the address that buyers pay to',
        'put a TLS proxy in front of it, and set public_url to https://…',
      ),
    );
  return [...findings, proxyOf(config)];
};

/** Whether what is before the daemon agrees with whose address it believes. */
function proxyOf(config: Config): Finding {
  const { public_url, host, port, trust_proxy } = config;
  const is_direct = new URL(public_url).port === String(port);
  if (isLocal(config) || (is_direct && !trust_proxy))
    return ok('proxy', trust_proxy ? 'its headers are believed' : 'none, and no header is believed');
  if (!trust_proxy)
    return warning(
      'proxy',
      `${public_url} leads through a proxy, whose address all callers seem to have: their limits are one`,
      'set trust_proxy',
    );
  // Where networks are named, who comes from elsewhere is not believed.
  const believes_all = !Array.isArray(trust_proxy);
  const is_open = host === '0.0.0.0' || host === '::';
  if (believes_all && (is_direct || is_open))
    return warning(
      'proxy',
      `headers of a proxy are believed, but callers may reach port ${port} past it and name any address`,
      "set host to 127.0.0.1, or trust_proxy to the proxy's network",
    );
  return ok(
    'proxy',
    believes_all ? 'its headers are believed, and it is the only way here' : 'its headers are believed',
  );
}

/** Through which proxy requests leave, and which do not. */
export const wayOut: Check = async ({ config: { proxies } }) => {
  const { http, https, except, from } = proxies;
  if (http === null && https === null)
    return [ok('way out', `directly${from === 'proxy' ? ', as proxy says' : ''}`)];
  const way = (proxy: string | null) => (proxy === null ? 'directly' : `through ${shownProxy(proxy)}`);
  const ways = http === https ? way(http) : `https ${way(https)}, http ${way(http)}`;
  const but = except.length === 0 ? '' : `, but for ${except.join(', ')}`;
  return [
    ok(
      'way out',
      `${ways} (${from})${but}; mail goes directly, and guards against private addresses are the proxy's too`,
    ),
  ];
};

export const mail: Check = async ({ config }) => {
  const { smtp_url, data_dir, demo } = config;
  if (smtp_url === undefined) {
    const says = `no server: mails are files in ${data_dir}/outbox`;
    return [demo ? ok('mail', says) : warning('mail', says, 'set smtp_url and mail_from')];
  }
  const transport = createTransport({
    url: smtp_url,
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  });
  try {
    await transport.verify();
    return [ok('mail', `${new URL(smtp_url).host} accepts mail with these credentials`)];
  } catch (error) {
    return [failed('mail', `${new URL(smtp_url).host}: ${(error as Error).message}`, 'set smtp_url')];
  } finally {
    transport.close();
  }
};

export const notices: Check = async ({ config }) => {
  const { notify, demo } = config;
  if (notify.length === 0) {
    const says = 'no one is notified when something needs attention';
    return [demo ? ok('notify', says) : warning('notify', says, 'set notify')];
  }
  const signal = AbortSignal.timeout(PATIENCE_MS);
  return Promise.all(
    notify.map(async (target) => {
      const shown = shownTarget(target.to);
      const fault = await examineTarget(target, config, signal, runtimeOf(config));
      if (fault !== null) return failed('notify', `${shown}: ${fault}`, 'gatewayd notify test');
      const says = target.to.startsWith('mailto:') ? 'is sent to as mail is' : 'can be reached';
      return ok('notify', `${shown} ${says}`);
    }),
  );
};

/** Nothing is sent that a monitor would take for a daemon that runs: what counts is when the last one of a daemon arrived. */
export const heartbeat: Check = async ({ config, now }) => {
  const { heartbeat_url: url, database_url } = config;
  if (url === undefined) return [];
  const shown = shownTarget(url);
  const at = await lastHeartbeat(database_url);
  if (at !== undefined && now - at <= HEARTBEAT_LATE_SECONDS)
    return [ok('heartbeat', `${shown}: the last one arrived ${Math.max(0, now - at)} s ago`)];
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const fault = await examineTarget({ to: url }, config, signal, runtimeOf(config));
  if (fault !== null) return [failed('heartbeat', `${shown}: ${fault}`, 'gatewayd notify test')];
  const since = at === undefined ? '' : ` since ${new Date(at * 1000).toISOString()}`;
  return [
    warning(
      'heartbeat',
      `${shown} can be reached, and none has arrived there${since}`,
      'start the daemon, and see its log for why; gatewayd notify test sends one',
    ),
  ];
};

/** Undefined where none arrived yet, or the database cannot tell. */
async function lastHeartbeat(database_url: string): Promise<number | undefined> {
  try {
    const books = await openSnapshot(database_url);
    try {
      const at = await findMeta(books.query, LAST_HEARTBEAT_AT);
      return at === undefined ? undefined : Number(at);
    } finally {
      await books.close();
    }
  } catch {
    return undefined; // What is wrong with the database is a line of its own.
  }
}

export const timeServer: Check = async ({ ntp }) => {
  if (ntp === undefined) return [];
  try {
    const offset = await offsetTo(ntp);
    const says = `${Math.round(Math.abs(offset) * 10) / 10} s ${offset < 0 ? 'ahead of' : 'behind'} ${ntp}`;
    const fix = 'set the clock by NTP: timedatectl set-ntp true';
    if (Math.abs(offset) > CLOCK_FAIL_SECONDS) return [failed('clock', says, fix)];
    return [Math.abs(offset) > CLOCK_WARN_SECONDS ? warning('clock', says, fix) : ok('clock', says)];
  } catch (error) {
    return [
      warning('clock', `${ntp} does not answer: ${(error as Error).message}`, 'name another with --ntp'),
    ];
  }
};

/** Seconds that the server's clock is ahead of ours, to within the half of the way there and back. */
async function offsetTo(server: string): Promise<number> {
  const [, host = server, port] = /^(.*?)(?::(\d+))?$/.exec(server) ?? [];
  const socket = createSocket('udp4');
  try {
    const request = Buffer.alloc(NTP_BYTES);
    request[0] = NTP_REQUEST;
    const sent_ms = Date.now();
    socket.send(request, Number(port ?? NTP_PORT), host);
    const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [
      Buffer,
    ];
    const now_ms = Date.now();
    if (answer.length < NTP_BYTES) throw new Error('its answer is too short');
    const theirs =
      answer.readUInt32BE(NTP_SENT_AT) - NTP_EPOCH_SECONDS + answer.readUInt32BE(NTP_SENT_AT + 4) / 2 ** 32;
    return theirs - (sent_ms + now_ms) / 2000;
  } finally {
    socket.close();
  }
}
