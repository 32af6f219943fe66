// What an operator reads at night: what each alert, notice, exit code and line of doctor means, what to do, and what not to do.
import type { Subject } from '../doctor/finding.ts';
import type { NoticeCause } from '../notify/names.ts';

export interface Section {
  /** Its address on the page; stable, because notices and alerts lead there. */
  anchor: string;
  title: string;
  /** Paragraphs and steps are plain text with commands in backticks. */
  means: string;
  steps: readonly string[];
  /** What makes it worse. */
  never?: readonly string[];
  /** What leads here. */
  notices?: readonly NoticeCause[];
  alerts?: readonly string[];
  /** Exit codes of `gatewayd`. */
  exits?: readonly string[];
  /** What lines of doctor begin with. */
  doctor?: readonly Subject[];
}

/** Before any section. */
export const FIRST: readonly string[] = [
  'Nothing that was paid is lost while gatewayd is down or blind: payments are on the chain, in the wallets of merchants, and are found by their time once it reads again. Take the time to read.',
  'Run `gatewayd doctor` on the machine: each line that failed says what to do. `gw admin observers` shows how each blockchain is read, `gw admin dashboard` what waits for a person.',
  'Whatever is wrong: never delete the data directory or its `secret`, never copy a database file while a daemon runs (use `gatewayd backup`), and never edit rows by hand: the laws of the books would show it for ever.',
];

const chains: readonly Section[] = [
  {
    anchor: 'blind',
    title: 'A blockchain cannot be read',
    means:
      'No provider of the blockchain has answered for a minute (`blind_after_seconds`). Its coins are not available, new invoices in them are refused, and open ones do not expire for up to 24 hours. Others continue.',
    steps: [
      '`gw admin observers` names the providers of it and the last error of each.',
      '`gatewayd doctor` asks each provider from this machine: if all of them fail, the network or the proxy of the machine is at fault.',
      'A provider that refuses (429, 403) wants fewer requests or a key: set `requests_per_second` or `api_key` below `blockchains` of the settings, or name another in `urls`, and restart the daemon.',
      'If the error speaks of a reorganisation, see whether the chain has had one, then `gatewayd reread BLOCKCHAIN --dry-run` shows what reading it again would mean.',
    ],
    never: [
      'Do not cancel or expire open invoices by hand: what buyers have paid meanwhile is found when the chain is read again.',
    ],
    notices: ['blockchain_blind', 'blockchain_back'],
    alerts: ['GatewaydBlockchainBlind', 'GatewaydBlockchainLag'],
    doctor: ['provider'],
  },
  {
    anchor: 'provider',
    title: 'A provider does not answer',
    means:
      'One of the hosts that a blockchain is read from fails, or serves another network. While another one answers, nothing is missed.',
    steps: [
      '`gw admin observers` shows its last error. What passes within the hour needs nothing.',
      'If it stays, set another in `urls` of that blockchain below `blockchains`, and run `systemctl reload gatewayd`.',
    ],
    alerts: ['GatewaydProviderDown'],
  },
  {
    anchor: 'route',
    title: 'One daemon cannot reach a provider',
    means:
      'Of several daemons, one gets no answer from its providers of a blockchain, or far too slow a one, while others do. It has left that blockchain to them: nothing is missed. It tries from time to time, and takes its part again once it is answered.',
    steps: [
      'The notice names the daemon, its machine and the provider. Run `gatewayd doctor` on that machine: its lines about providers say what fails there.',
      'Check its firewall, its proxy and its name server, or set providers in `urls` below `blockchains` that answer there, and run `systemctl reload gatewayd`.',
    ],
    never: ['Do not stop the other daemons before it is over: they are those that read.'],
    notices: ['route_dead', 'route_back'],
    alerts: ['GatewaydRouteDead'],
    doctor: ['route'],
  },
  {
    anchor: 'gateway',
    title: 'A gateway cannot be used',
    means: 'The contract or the decimals of a token in the settings are not those that its chain has.',
    steps: ['Correct both below `gateways` or `chains` of the settings, then run `gatewayd doctor` again.'],
    never: ['Do not sell in it before the line is ok: amounts could be wrong by a power of ten.'],
    doctor: ['gateway'],
  },
  {
    anchor: 'pace',
    title: 'A blockchain is faster or slower than usual, or changes',
    means:
      'Blocks come at a pace that is over 30 % off the usual one, or an upgrade of the chain is announced. It stops nothing.',
    steps: [
      'Read what the project of the chain has announced, and see whether a newer gatewayd speaks of it.',
      'Your own node may need a newer version before the date that doctor names.',
    ],
    notices: ['pace_changed', 'pace_usual'],
    doctor: ['pace', 'upgrade', 'upgrades'],
  },
  {
    anchor: 'depth',
    title: 'Payments count too soon',
    means:
      'Blocks of a setting take less time than is usual on that chain: payments are confirmed with less security than was meant.',
    steps: [
      'Set what the notice names, `confirm_seconds` or `min_confirmations` of the gateway, and restart the daemon.',
    ],
    notices: ['depth_short'],
    doctor: ['depth'],
  },
  {
    anchor: 'contradiction',
    title: 'Two sources say different things of a payment',
    means:
      'Two providers differ about a payment above `quorum_above_usd`, or a confirmed payment is not on the chain any more. Nothing is decided automatically.',
    steps: [
      '`gw admin contradictions` shows both sides. Look the transaction up in an explorer that is neither of them.',
      '`gw admin transaction TXID` shows what gatewayd knows of it.',
      'Once it is clear, `gw admin close-contradiction ID`. A payment that is gone is between the merchant and the buyer: goods may have been delivered.',
    ],
    never: ['Do not confirm an invoice by hand on the word of one provider.'],
    notices: ['contradiction'],
    alerts: ['GatewaydContradiction'],
  },
];

const machine: readonly Section[] = [
  {
    anchor: 'database-away',
    title: 'The database does not answer',
    means:
      'PostgreSQL is down, cannot be reached or has no connection left. Requests are answered with 503, nothing is sold, and nothing is lost.',
    steps: [
      'See whether PostgreSQL runs and takes connections: `systemctl status postgresql` and its log.',
      '`gatewayd doctor` says what this machine is answered. If the password or the address changed, correct `database_url`.',
      'The daemon comes back as soon as the database does; no restart is needed.',
    ],
    never: ['Do not point `database_url` at an empty database: the books would begin again from nothing.'],
    notices: ['database_away', 'database_back'],
    alerts: ['GatewaydDatabaseDown'],
    doctor: ['database'],
  },
  {
    anchor: 'database-writes',
    title: 'The database takes no writes',
    means:
      'It answers and cannot store: its disk is full, it is a standby or set to read-only, or its files cannot be written. No payment is recorded until it can; all are found afterwards.',
    steps: [
      'Full: free space on the disk of the database, first of all old logs and backups. PostgreSQL needs room for its write-ahead log before anything else.',
      'Read-only: after a failover `database_url` must name the new primary. On SQLite, see who owns the files: `ls -l` in the data directory.',
      '`gatewayd doctor` shows when it is well, then `gatewayd verify` that the books are whole.',
    ],
    never: [
      'Never remove files of PostgreSQL, and none of those next to the SQLite file that end in `-wal` or `-shm`: they hold what was written last.',
    ],
    notices: ['database_full', 'database_read_only', 'database_failing'],
    alerts: ['GatewaydDatabaseNotWritable'],
  },
  {
    anchor: 'moved',
    title: 'The database is out of use after a move',
    means:
      'A start ends with 78 because the gateway was moved from SQLite to PostgreSQL and this is the old database, or because a move did not come to its end. Two databases in use would book payments twice.',
    steps: [
      'Moved: set `database_url` to the database that the message names, and start again. The secret stays in the data directory.',
      'Interrupted: run `gatewayd move --to URL` again with the settings of before. It begins again or does its last step, and says what to do then.',
      'To stay on the old database for good, stop every daemon on the new one, then `gatewayd move --back --yes`.',
    ],
    never: [
      'Do not take a move back after anything was sold on the new database: it is not in the old one, and payments for it would be unmatched there.',
    ],
  },
  {
    anchor: 'disk',
    title: 'A disk is nearly full',
    means:
      'Less than 1 GiB, or less than 5 %, is left for the data directory, the database or the backups. When it is full, nothing can be stored.',
    steps: [
      '`df -h` shows which disk it is. Remove old logs, and backups that are stored elsewhere too.',
      'Fewer automatic backups: `backup.keep`. Old events and logs: `retention` of the settings.',
      'Where it is too small, stop the daemon, move the data directory, set `data_dir`, and start again.',
    ],
    never: ['Never delete `gatewayd.db`, a file next to it that ends in `-wal`, or `secret`.'],
    notices: ['disk_low'],
    alerts: ['GatewaydDiskLow'],
    doctor: ['disk'],
  },
  {
    anchor: 'backup',
    title: 'The last backup is too old, or there is none',
    means:
      'No backup was made for two days, or for twice `backup.every` and ten minutes at least. If the machine is lost now, so are the books since then.',
    steps: [
      '`gatewayd backup FILE` makes one now; why the automatic one failed is in the log.',
      'Set `backup.every`, `backup.passphrase` and `backup.to`, a place on another disk, and copy it to another machine. Without a passphrase the secret is not in it: store the file `secret` elsewhere, too.',
      'Where PostgreSQL is backed up by other means, remove this rule of Prometheus.',
    ],
    never: [
      'A backup that was never tried is a hope: `gatewayd backup check FILE` says whether it could be restored, and `gatewayd restore FILE` on another machine proves it.',
    ],
    notices: ['backup_old'],
    alerts: ['GatewaydBackupOld'],
    doctor: ['backup'],
  },
  {
    anchor: 'clock',
    title: 'The clock is wrong',
    means:
      'The clock of this machine and the time of the chains differ by over 30 s. Nothing ends while that lasts; times that people see are wrong.',
    steps: [
      '`timedatectl` shows whether the clock is synchronised; `timedatectl set-ntp true` turns that on.',
      '`gatewayd doctor --ntp pool.ntp.org` compares it with a time server.',
    ],
    never: ['Do not set it by hand while the daemon runs, if NTP can do it: NTP does it gently.'],
    notices: ['clock_wrong'],
    alerts: ['GatewaydClockWrong'],
    doctor: ['clock'],
  },
  {
    anchor: 'outdated',
    title: 'A daemon is older than the schema of its database',
    means:
      'A newer gatewayd has changed the schema in a way that this daemon cannot continue on. It sells, reads and stores nothing more and answers 503 `schema_newer`; daemons of the newer version work. Payments are found by them.',
    steps: [
      'Install the newer version on the machine that the notice names, and start the daemon again.',
      'If the newer version is what is wrong, go one step back on all machines: stop every daemon, install the version of before, and give `gatewayd restore` the copy that the upgrade made (SQLite, next to the database) or the backup of before it (PostgreSQL, into an empty database).',
    ],
    never: [
      'Do not restore over the newer database: move it away, for what was sold since the upgrade is only there.',
    ],
    notices: ['schema_newer'],
    alerts: ['GatewaydOutdated'],
  },
  {
    anchor: 'slow',
    title: 'The daemon is slow',
    means:
      'Its event loop is late by over half a second: the machine has too little processor or memory for what is asked.',
    steps: [
      '`top` shows who takes the processor. Another program, a backup to a slow disk, or swapping are the usual causes.',
      'The metrics by endpoint show what is asked most. `gw admin daemons` shows whether another daemon could take a share.',
    ],
    alerts: ['GatewaydSlow'],
  },
  {
    anchor: 'down',
    title: 'A daemon is down, or starts again and again',
    means:
      'Prometheus cannot read its metrics, or it was started over three times in a quarter of an hour. Without any daemon nothing is sold; payments that arrive are found later.',
    steps: [
      '`systemctl status gatewayd` and `journalctl -u gatewayd -n 100` show the exit code and the last line: see that code below.',
      'A daemon that was killed without a line (code 137) ran out of memory: `journalctl -k` says so.',
      '`gatewayd start` once more is always safe.',
    ],
    never: ['Do not remove the lock file or start a second daemon on the same SQLite file.'],
    alerts: ['GatewaydDown', 'GatewaydRestarting'],
  },
  {
    anchor: 'draining',
    title: 'A daemon was taken out of work and never started again',
    means:
      '`gw admin daemon drain` takes a daemon out of work until its next start: its `/health` is 503 and it reads no blockchain.',
    steps: ['`gw admin daemons` names it. Restart it when what it was drained for is done.'],
    alerts: ['GatewaydDraining'],
  },
];

const people: readonly Section[] = [
  {
    anchor: 'payments',
    title: 'A payment waits for a person',
    means:
      'It came late, fits no invoice, is held because the limit of the merchant does not cover it, or left the chain. The money is in the wallet of the merchant.',
    steps: [
      '`gw admin payments --status late`, or `unmatched` or `held`, lists them, with the invoices that each could mean.',
      '`gw admin resolve INVOICE --action confirm --txid TXID` books a payment for an invoice. Ask the merchant where you are not sure.',
      'Held: it is booked automatically when the merchant pays a refill; `gw admin credit USER_ID USD` grants one by hand.',
    ],
    never: [
      'Do not confirm an invoice because a screenshot says that it was paid: only what `gw admin payment` shows was paid.',
    ],
    notices: ['payment_late', 'payment_unmatched', 'payment_held'],
    alerts: ['GatewaydPaymentsWaiting'],
  },
  {
    anchor: 'limit',
    title: 'The limit of a merchant is nearly used up',
    means: 'Soon payments of this merchant are held until a refill is paid. None is lost.',
    steps: ['`gw admin merchants` shows who it is. Tell the merchant to pay a refill: `gw refill create`.'],
    notices: ['limit_low'],
  },
  {
    anchor: 'webhooks',
    title: 'Webhooks do not arrive',
    means:
      'The server of a shop refused or did not answer. The payment is booked; the shop does not know of it yet.',
    steps: [
      '`gw admin events --undelivered` lists them, with what the server answered.',
      'Many hosts at once: the way out of this machine is at fault, and `gatewayd doctor` shows it. One host: it is the shop, which should know.',
      'Once the server works, the shop sends each again with `gw event resend EVENT_ID`; the id is the same, so that nothing is done twice.',
      'A queue that grows while hosts answer: `gw admin daemons` shows whether a daemon is there to send it.',
    ],
    notices: ['webhook_failed'],
    alerts: ['GatewaydWebhooksUndelivered', 'GatewaydWebhooksQueued'],
  },
  {
    anchor: 'notices',
    title: 'Notices or mails do not arrive',
    means: 'An address of `notify`, or the mail server, takes nothing: you would hear of nothing else.',
    steps: [
      '`gatewayd notify test` sends to each address and shows what it was answered.',
      'Mail: correct `smtp_url` and `mail_from`. Without a server mails are files in `outbox` of the data directory. Telegram: the bot must be a member of the chat.',
    ],
    alerts: ['GatewaydNoticesUndelivered'],
    doctor: ['notify', 'heartbeat', 'mail'],
  },
  {
    anchor: 'rates',
    title: 'There is no exchange rate',
    means:
      'Fewer than two price sources answer or agree for a currency. New invoices in it are refused; open ones have their rate.',
    steps: [
      'The log names the sources and why each failed. When all fail, the way out of this machine is at fault: `gatewayd doctor`.',
      'After a real jump of the price sources agree again within minutes.',
    ],
    never: ['Do not set a fixed rate to get through the night: every invoice would be sold at it.'],
    notices: ['rate_missing'],
    alerts: ['GatewaydRatesMissing'],
  },
];

const settings: readonly Section[] = [
  {
    anchor: 'settings',
    title: 'A setting is wrong',
    means: 'A file, variable or flag has a value that cannot be used. The line names it.',
    steps: [
      '`gatewayd config` shows each setting that is in effect and where it is from; `gatewayd config --all` all that there are.',
    ],
    doctor: ['settings'],
  },
  {
    anchor: 'files',
    title: 'Files are open to others, or cannot be read',
    means:
      'Other users of the machine could read the database or the secret; or the user of the service cannot.',
    steps: ['Run what the line says as the user of the service, so that the files stay its own.'],
    never: [
      'Do not run `gatewayd` as root next to a service of another user: what root writes, the service cannot read.',
    ],
    doctor: ['files'],
  },
  {
    anchor: 'secret',
    title: 'The secret is missing, weak, wrong, or being replaced',
    means:
      'The secret opens the stored keys of merchants and signs sign-ins. Without the right one the daemon does not start.',
    steps: [
      'Missing or wrong: put the file `secret` of your copy back, or restore a backup that has a passphrase: the secret is in it. Where both are lost, `gatewayd restore FILE --new-secret` makes another, and names what must be set again.',
      'Being replaced: `gatewayd secret rotate` once more ends it. Weak, or seen by others: `gatewayd secret rotate --at-once`.',
    ],
    never: ['Never delete the file in order to get a new one: what it has sealed would stay closed.'],
    doctor: ['secret'],
  },
  {
    anchor: 'public-url',
    title: 'The public address or the proxy is wrong',
    means: 'Buyers cannot reach the pages, or limits see one caller where there are many.',
    steps: [
      '`curl -sS -D- PUBLIC_URL/health` from another machine shows what callers get. Check DNS, the certificate and the proxy in front.',
      'Set `public_url` to what buyers type, and `trust_proxy` where a proxy stands in front; restart the daemon.',
      'A way out through a proxy is set by `proxy` and `no_proxy`; `gatewayd doctor` shows which one is used.',
    ],
    doctor: ['public url', 'proxy', 'way out'],
  },
];

const exits: readonly Section[] = [
  {
    anchor: 'exit-0',
    title: 'Exit code 0, and 128 and more',
    means:
      '0: it ended because it was asked to. 128 and a number: a signal ended it, 130 by Ctrl-C, 137 killed, 143 by SIGTERM.',
    steps: [
      '137 without your doing means that memory ran out: `journalctl -k` says so. Start it again; nothing is lost.',
    ],
    exits: ['0', '128'],
  },
  {
    anchor: 'exit-1',
    title: 'Exit code 1: it failed',
    means:
      'A fault that no one foresaw ended the daemon, or `gatewayd doctor` or `gatewayd notify test` found something that failed. The supervisor starts a daemon again.',
    steps: [
      'The last lines of the log have the reason. Report it with its stack, without your settings.',
      'After a daemon that ended so, `gatewayd verify` shows that the books are whole.',
    ],
    exits: ['1'],
  },
  {
    anchor: 'exit-2',
    title: 'Exit code 2: the command line is wrong',
    means: 'A flag or a command is mistyped, or `gatewayd doctor` cannot read the settings.',
    steps: ['`gatewayd help` lists the commands; the error names the one that was meant.'],
    exits: ['2'],
  },
  {
    anchor: 'exit-65',
    title: 'Exit code 65: the data is broken',
    means:
      '`gatewayd verify` found that a law of the books does not hold, or a backup is damaged, incomplete, or of another kind.',
    steps: [
      '`gatewayd verify --quiet` names the law, the rows and what to do. `gatewayd verify --chain` compares with the chains.',
      'A backup: take the one before. A file that was copied while it was written is incomplete.',
    ],
    never: [
      'Do not correct rows by hand, and do not use `--accept-broken` before you have read what is broken and made a copy.',
    ],
    exits: ['65'],
  },
  {
    anchor: 'exit-74',
    title: 'Exit code 74: a file cannot be read or written',
    means: 'The disk of a backup is full, is away, or its folder is not yours. What was begun was removed.',
    steps: ['`df -h` and `ls -ld` of the folder; then run the command again.'],
    exits: ['74'],
  },
  {
    anchor: 'exit-75',
    title: 'Exit code 75: not now',
    means:
      'The database could not be reached within `wait_for_database_seconds`, or had no connection left. The supervisor starts it again.',
    steps: ['Start PostgreSQL, or correct `database_url`. Nothing else is to be done.'],
    exits: ['75'],
  },
  {
    anchor: 'exit-78',
    title: 'Exit code 78: an operator has to correct something',
    means:
      'A setting, the environment, a busy port, a second daemon on one SQLite file, a missing or wrong secret, or a schema that is newer than this version. Nothing was changed, and starting again does not help.',
    steps: [
      'The last line says what. `gatewayd config` shows the settings, `gatewayd doctor` the rest.',
      'A schema that is newer than this version: install the newer version again. An older schema of PostgreSQL: `gatewayd backup`, then `gatewayd migrate`.',
    ],
    never: ['Never delete the database, the secret or the lock to get past it.'],
    exits: ['78'],
  },
];

/** In the order of the page. */
export const sections: readonly Section[] = [...chains, ...machine, ...people, ...settings, ...exits];

/** Where an operator who is notified of this reads on; undefined where no section names it. */
export const anchorOf = (cause: string): string | undefined =>
  sections.find(({ notices = [] }) => (notices as readonly string[]).includes(cause))?.anchor;

/** The path of the page on every deployment. */
export const RUNBOOK_PATH = '/guides/run';

/** What a shell is given to read a section. */
export const commandFor = (anchor: string): string => `gatewayd help runbook ${anchor}`;
