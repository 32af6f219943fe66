// What decisions.md promises of webhooks, sign-in, running and every write: §5, §6, §9, §10, §11.

export const webhooks = {
  source: 'decisions: §5',
  sentences: {
    'webhook-signature':
      'webhooks are signed by Standard Webhooks: id, timestamp, v1 HMAC over id.timestamp.body',
    'webhook-platform-signed':
      'callbacks of the platform key are signed with the deployment secret, which only operators see',
    'webhook-two-signatures':
      'for 24 h after its secret was changed a webhook carries a signature by each of the two, unless the old one is ended',
    'webhook-secret-forms': 'a secret after whsec_ is base64, any other its UTF-8 bytes',
    'webhook-body': 'the body is type invoice.confirmed, timestamp, api_version and data {invoice, payment}',
    'webhook-callback': 'callback_url replaces webhook_url for its invoice, with the same secret',
    'webhook-one-attempt': 'one automatic attempt, claimed first; a crash leaves unknown, never a second one',
    'webhook-given-back':
      'an attempt that the end of its daemon interrupts before anything is sent is made by another',
    'interim-answers':
      'answers of 1xx before the answer are passed over by what sends webhooks and notices and by what asks providers, prices and Google',
    'clean-bytes':
      'a byte-order mark in front of UTF-8 is passed over in files, on stdin and in bodies, and UTF-16 is refused by its name',
    'clean-line-ends':
      'line ends behind a variable or a setting are no part of it, of passwords and secrets neither; a database made with one behind its secret opens still',
    'service-links':
      'variables in the form of the links that Kubernetes sets for a Service are no settings, and one line of the log says so',
    'no-home':
      'where the data directory is named no home directory is needed, and where neither is there one sentence asks for it, exit 78',
    'pages-links':
      'a link to a page that ends with what chats and sentences put behind it opens the page; a browser below the pages of buyers gets a page, never JSON, and programs what they got before',
    'sight-one-rule':
      'one rule says how a blockchain is read, for /readyz, observers, metrics and doctors; a new deployment whose providers answer is idle, and well everywhere',
    'embed-once':
      'a tag of embed.js shows exactly one checkout, as a module, with anything behind its address, moved, copied or mounted twice; none where it is gone before it ran',
    'way-out':
      'requests to providers, price sources, Google, targets of notify and webhooks, and hints, go through the proxy that proxy, HTTPS_PROXY or HTTP_PROXY names, but for NO_PROXY and this machine; doctor names it, nothing shows its credentials, and gw goes through it too',
    'pages-untouched':
      'amount, address, memo, reference and transaction are marked as not to be translated and are no telephone numbers, fields have 16 px, and forced colours leave the code, buttons and focus visible',
    'webhook-outcome': '2xx is success, 3xx a failure that is not followed; 15 s in all, 64 KB read',
    'webhook-slow': 'a slow receiver delays no other',
    'webhook-statuses': 'webhook_status is none, pending, delivered, failed or unknown',
    'events-kinds': 'every kind of event is stored and listed to the merchant',
    'events-cursor': 'events are paged by after, oldest first, and none that commits late is passed over',
    'events-newest': 'order=newest pages them backwards',
    'events-stream': 'Accept: text/event-stream streams them',
    'woken-by-others':
      'what one daemon writes wakes streams and webhooks of the others at once; a poll is the net where notifications are lost',
    'events-resend':
      'resend sends an event again under the same webhook-id; an operator sends those of any account',
    'outgoing-public-only':
      'outgoing requests reach only public addresses, checked at connect, unless allowed',
  },
} as const;

export const signIn = {
  source: 'decisions: §6',
  sentences: {
    'identity-values': 'source is email, google or telegram; gmail.com and googlemail.com are provider mail',
    'identity-by-subject': 'identity is (source, subject): Google never takes over a password account',
    'token-form': 'tokens are HS256 with exp, sub, iat, typ, ver, for 8 days',
    'recovery-token': 'recovery tokens are of another kind, for 48 h, once',
    'tokens-end': 'a changed password, deactivation or deletion ends a user’s tokens',
    'credentials-end':
      'a changed or proved address and a changed password end sessions, recovery links, confirmation links and a pending address of before; a mail goes to the former address, of a changed key too',
    'bearer-statuses': 'no token is 401, a bad one 403, its user gone 404, inactive 400, no superuser 403',
    'sign-in-messages': 'sign-in and users answer the statuses and messages of http.md',
    'users-superuser': 'managing users needs the superuser, except a user reading itself',
    'clean-pasted':
      'characters that no one sees (Unicode Cf and Cc, the byte-order mark) and white space at the ends are dropped from memos on chains, claims, addresses, ids, keys, searches, settings and from the front of files',
    'clean-password':
      'a password is hashed composed (NFC) and loses nothing; a hash of an earlier version is tried with what was typed',
    'key-form': 'the key is gw_, 32 random bytes and a checksum; looked up by hash, stored encrypted',
    'key-401': 'an absent or unknown key is 401 Invalid API key',
    'key-rotate':
      'rotate-key replaces the key; the old one ends at once, or after the grace that is asked for',
    'platform-key-form': 'the platform key is gw_ and at least 24 characters',
    'first-superuser':
      'the first superuser is configured, or made with a password that is shown on the terminal, once, or stored where there is none',
    'first-password-file':
      'without a terminal the first password is a file of mode 0600 in the data directory, named in the log, and gone with its first sign-in, at whichever daemon',
    'url-line':
      'a URL with a line end or a tab in it is refused with 422, for without it it would be another one',
    slug: 'slugs are 3–64 of a fixed form, unique, from the mail at sign-up; PATCH changes, taken is 409',
    'unit-slug': 'a unit’s slug comes from its title, unique per merchant',
    'plan-base': 'plan is base',
    'rate-limit-sign-in':
      'sign-in and recovery: 10/min per address, 5/min per identity and address, 100 and 20/min per identity from all addresses',
    'rate-limit-signup': 'signup: 10/min per address',
    'rate-limit-checkout': 'checkout: 30/min per address',
    'rate-limit-429': 'beyond is 429 with Retry-After; limits are settings; loopback in demo is exempt',
    'rate-limit-shared': 'these limits hold over all daemons of a PostgreSQL database together, exactly',
    'email-proof':
      'a mail address recovers nothing until a link sent to it was confirmed by a button; the operator vouches, and so does demo mode',
    'email-change':
      'a new mail address replaces the old one when a link sent to the new one is confirmed, once',
    'signup-mode':
      'sign-up is open on testnet and closed on mainnet unless set; first sign-ins elsewhere follow it, accounts sign in as before',
    'signup-invite': 'an invite is for one email address, works once, and expires',
    'passwords-in-turn':
      'of each caller one password waits to be hashed, so that no one fills the queue for the others',
    'passwords-argon2': 'passwords are argon2id, and an unknown user costs what a wrong password costs',
  },
} as const;

export const running = {
  source: 'decisions: §9',
  sentences: {
    'settings-order': 'flags > environment > file > defaults',
    'settings-env': 'every setting has its GATEWAYD_ name in the environment',
    'settings-files': 'the variable of a secret with _FILE behind it names a file that has it',
    'settings-unknown': 'an unknown key is an error that names the nearest known one',
    'default-demo': 'nothing configured is testnet with demo on loopback port 4020',
    'mainnet-no-demo': 'mainnet turns demo off; demo with mainnet is refused',
    'data-dir': 'the data directory is $XDG_STATE_HOME/gatewayd, 0700, files 0600',
    'sqlite-durable': 'SQLite runs in WAL with synchronous FULL',
    'command-backup': 'gatewayd backup writes what the database is at one moment, also while daemons run',
    'command-restore':
      'gatewayd restore fills an empty place only, with what the laws of verify hold for; an older schema is brought up to date',
    'command-move':
      'gatewayd move takes a gateway from SQLite into an empty PostgreSQL database: rows, ids, keys and feeds are the same, and laws hold on both sides',
    'move-interrupted':
      'killed at any moment a move leaves the old database as it was, or is ended by running it again; a daemon starts on at most one of both',
    'move-refused':
      'a move is refused, and changes nothing, while a daemon runs, where the other database holds anything else, and where sides differ or a law is broken',
    'command-doctor':
      'gatewayd doctor examines a deployment, running or stopped: each line ok, a warning or failed with what to do; exit 0, 1 or 2',
    'commands-own-user':
      'a command works as the user to whom the data belongs, or refuses with one sentence that names the way, before it touches anything',
    'doctor-advice':
      'what doctor advises about files leaves a daemon that starts, under the user of a service too',
    'backup-secret': 'the secret is in encrypted backups only, and a restore is refused where it is nowhere',
    'backup-check':
      'gatewayd backup check says whether a backup could be restored, without the laws of its secret where that is not here; no live data is touched and nothing stays',
    'backup-new-secret':
      'restore --new-secret replaces all that a lost secret sealed and says what must be set again; shops continue with their keys, and no law breaks',
    'backup-place':
      'backup.to is refused where it is missing, by a start with 78; what doctor advises about backups makes one that another machine restores',
    'point-in-time': 'PostgreSQL is put back to any moment by its own archive, as the guide says',
    'secret-rotate':
      'gatewayd secret rotate replaces the secret while daemons sell: no request fails, and nothing opens with the old one after it',
    'secret-rotate-killed':
      'killed at any step every value stays readable, and running it again ends the rotation',
    'secret-rotate-refused':
      'a rotation is refused, and changes nothing, while a running daemon does not know the new secret; exit 78',
    'secret-rotate-sessions':
      'what the old secret has signed counts 8 days (webhooks of the platform key 24 h) after a rotation, or not at all with --at-once',
    'backup-whole':
      'killed in the middle, a full disk, a damaged file or a wrong passphrase leave nothing that counts, with a message and an exit code',
    'backup-automatic': 'backups are made as often as is set, by one daemon of several, and old ones go',
    'upgrade-way-back':
      'before a schema is changed a SQLite file is copied next to it; PostgreSQL needs a backup of the last day, or --yes',
    retention:
      'what is older than retention says is removed in batches, by one daemon of several; money, and what is open, stays, and no law breaks',
    floods:
      'whatever one address or one merchant asks for, another merchant creates within five times his usual time, no one else is refused, and no memory stays taken',
    'public-days':
      'of an order that ended over public_days ago the public reads how it ended and nothing else; shop and operator read all of it',
    'retention-readers': 'a reader of events whose place was removed is refused with 410, never led past it',
    'account-export':
      'an export has every row of its merchant once, as JSON or CSV without formulas, no secret, and is whole or not there',
    'delete-erases':
      'deleting a user erases identity, wallets, webhook address and key; open invoices run to their end, and no law breaks',
    'backup-reread': 'after a restore, reading the chain again finds every payment since the backup',
    'exit-78': 'a busy port, second daemon, newer schema or damaged database: exit 78, nothing changed',
    'payment-ttl': 'payment_ttl_seconds: TON and Solana 300, Bitcoin 3600; from 5 s on testnet',
    'provider-network': 'a provider of the wrong network is refused; every test chain is testnet',
    'start-together': 'daemons that start at once on an empty database make one superuser and one secret',
    'start-waits':
      'a start waits wait_for_database_seconds for PostgreSQL, with a line each 5 s; what waiting does not change ends it',
    'ready-line': 'ready is one line on stdout',
    'command-start': 'gatewayd start runs the daemon',
    'start-next-steps': 'the first start on mainnet prints the next three commands of the operator on stderr',
    'command-migrate': 'gatewayd migrate brings the schema up to date',
    'command-config': 'gatewayd config shows what is in force, without secrets',
    'command-admin-create': 'gatewayd admin create makes a superuser',
    'command-invite':
      'gatewayd invite makes an invite for one address, and refuses where it could not be used',
    'settings-reload':
      'at SIGHUP log level, notify, rates, retention and providers are taken over without a reading lost, what needs a restart is named, and settings that cannot be used change nothing',
    sigterm: 'SIGTERM stops accepting, finishes what is in flight within 10 s, exits 0',
    'stop-in-time': 'stopping ends within 10 s, whatever hangs; a check that waits is answered, streams end',
    'rolling-restart': 'a rolling restart drops no request: connections close after their answer',
    'freeze-bounded': 'a daemon that freezes inside a transaction holds up no other longer than its lease',
    'daemons-listed':
      'the operator sees every daemon: version, start, last sign of life, what it reads, how far behind, and delivers',
    'daemon-drained':
      'a drained daemon gives back what it reads and claims no webhook; others do, and its health says draining',
    pooled:
      'a pooler in transaction mode may stand before PostgreSQL: nothing depends on a session, or says what it needs',
    'read-replica':
      'lists may be read from a replica, only where it has all that was committed when they were asked for; money never is',
    'chains-spread':
      'daemons of one database share out the blockchains evenly; who joins gets its share, and none stays unread',
    'dead-route-given-back':
      'a daemon whose providers do not answer, or too slowly, leaves a blockchain to others that can read it, within 20 s; where none can, they continue to try',
    'dead-route-steady':
      'it takes that blockchain again only after several answers, a while apart, also after a restart, and later each time it fails again',
    'dead-route-notified':
      'operators are notified once which daemon cannot reach which provider while another reads the blockchain, and when it can again',
    'hints-forward':
      'where a provider says that something happened, the next reading begins at once; what is due by the time of its chain is read then',
    'hints-bounded':
      'nothing is believed of hints and nothing is lost without them; whatever they send costs a bounded number of readings',
    'watched-sooner':
      'while somebody waits for a payment and no hints come, its blockchain is read more often, within what its provider takes',
    'blind-chain':
      'a blockchain not read for blind_after_seconds, or three pauses, is blind at every daemon, and comes back automatically',
    'blind-shown':
      'gateways, choosers and open pages say in every language that a blockchain cannot be read; gw doctor, the dashboard and the ready line too',
    'blind-refused':
      'a new invoice on a blockchain that cannot be read is 503 provider_unavailable with Retry-After; in demo mode it can be simulated',
    readiness:
      '/livez answers whatever else fails; /readyz is 503 while draining or without the database, and shows each blockchain with its lag',
    'log-causes':
      'a failure that lasts is logged when it begins, now and then with a count, and when it is over',
    night:
      'of each fault of a deployment (a chain, a route, a disk, a database, a backup) there is one notice within 90 s, by its name, with what to do, and one when a chain, route or database is back; there is no other',
    drill:
      'an upgrade, a blind chain, a full disk, a killed backup, another machine and a new secret, one after the other: nothing is lost, and verify is clean',
    'log-trace':
      'the lines of an invoice carry its id and that of the request that made it, up to its webhook; addresses of callers are left out where asked for',
    'blind-clock':
      'neither a clock that is set nor a process that stood still makes a blockchain blind or hides that it is',
    'blind-start':
      'after a start a blockchain has its time until it is blind; one that was blind stays so until it is read',
    metrics:
      'metrics are text for Prometheus on a port of their own or under a token, never on the public address without; no label is chosen by a caller',
    'metrics-upkeep':
      'metrics say which blockchains cannot be read, one that never could be among them, how old the last backup is (+Inf where none is known), how much disk is free, and how many notices and webhooks did not arrive; promtool finds no fault in them',
    runbook:
      'GET /guides/run and gatewayd help runbook say of each notice, alert, exit code and line of doctor what it means, what to do and what not to do, in commands that exist',
    'alert-rules':
      'gatewayd help alerts and GET /guides/alerts.yaml print rules for Prometheus, each with a section of the runbook, over metrics that a daemon has',
    'notice-steps':
      'a notice says which provider failed and how, without secrets, and names the command to run and the section of the runbook, in mail, Telegram and JSON',
    notify:
      'operators are notified of what each asked for, at most once an hour for each cause and each blockchain over all daemons and starts, and again where their address failed',
    'database-unwritable':
      'a database that takes no writes, be it full, read-only or away, is reported within seconds by /health, /readyz, metrics and doctor; asking for it makes no write',
    'notify-without-database':
      'operators are notified of a database that is away, full or read-only without it, until they took it, once an hour at most for each cause, and of its end; no blockchain is called blind for it',
    heartbeat:
      'each minute heartbeat_url is sent whether all is well, and what is not with the command to run, also without the database; its path and its failures fill no log',
    'both-databases': 'the same service runs on SQLite and PostgreSQL, there as several daemons',
    migrations: 'migrations run once each and refuse a newer schema',
    outdated:
      'a daemon continues on a newer schema whose unknown steps are all marked as compatible; any other stops its sales within 30 s with 503, it stores nothing more and notifies its operators once',
    'upgrade-one-step-back':
      'the version before an upgrade restores the copy (SQLite) or the backup (PostgreSQL) of before it, and starts on it',
  },
} as const;

export const extensions = {
  source: 'decisions: §10',
  sentences: {
    'list-invoices': 'GET /v1/invoices lists by status, external_ref, limit, after',
    'extension-marked': 'extensions carry x-extension in OpenAPI',
    'extension-catalog': 'extensions are marked in the catalog',
    'gw-commands': 'commands are nouns then verbs, one for every endpoint, and those of the list',
    'gw-setup':
      'gw setup asks for wallets, name, mail, webhook and a unit, checks each answer, and can be run again and without a terminal',
    'gw-plurals': 'plurals are aliases',
    'gw-json': '--json is exactly the API’s object on stdout, errors are JSON on stderr',
    'gw-formats':
      'every command with --json takes --jq, --template and --csv; what is wrong with one is refused before anything is asked',
    'gw-apply':
      'gw apply makes account, wallets and units what a file says: shown first, asked about where something goes, again without a change',
    'gw-export': 'gw export writes that file, without a secret, and applying it changes nothing',
    'gw-exit-codes': 'exit codes are those of the list, from 0 to 130',
    'gw-lost-answer':
      'what loses its answer is asked again under one key; what stays unknown has code 76, the key and the command',
    'gw-redirect': 'a redirect is refused with its target, and nothing is sent there',
    'gw-own-origin': 'keys of a profile go to the service that gave them, over plain http to loopback only',
    'gw-precedence': 'flags win over environment over profile; GW_URL, GW_API_KEY, GW_TOKEN, GW_PROFILE',
    'gw-profiles': 'profiles are stored with mode 0600',
    'gw-profile-known':
      'a profile that is not there is 78 with the names there are; login, signup, config set and the sandbox make one',
    'gw-answer-limit': 'gw reads 64 MiB of an answer at most, also unpacked; streams have no limit',
    'gw-opens-no-shell': 'an address is opened by a program and no shell, on Windows too',
    'gw-keyring':
      'secrets of a profile are in the keyring of the system where there is one, and never both there and in the file',
    'gw-listen': 'gw listen forwards events to a URL',
    'gw-listen-gapless':
      'gw listen loses no event across a lost connection, also before the first event, and is back within seconds',
    'gw-dev':
      'gw dev runs a daemon in demo mode on a chain of its own; keys pay rightly and wrongly, and reading, matching, settlement and webhooks are those of every deployment',
    'gw-trigger':
      'gw trigger does the same without a screen, and ends with what the daemon reported, also where that is something else: held, late',
    'gw-dev-end': 'the daemon of gw dev ends with it, also where it is killed',
    'gw-fixture':
      'gw trigger and gw dev record requests, events and webhooks of a scenario as a file, which gw listen --replay posts again, with a new signature',
    'gw-pos':
      'gw pos shows the code of an amount, says PAID with a bell, cancels on Esc, waits for a lost connection, and counts the day per till and in all',
    'gw-known-words':
      'a status, kind or event that does not exist is refused with the nearest; choices come from the description and complete',
    'gw-screens-true':
      'what a screen shows is true: rows that no longer match leave, all in view are read again, their age is shown, and the mark follows its row',
    'figures-and-lists':
      'an account reads its sales by day, its invoices by status and its bookings newest first, a superuser those of all; operators list events and units of all accounts, page by page, and the events that no one accepted',
    'gw-cockpit':
      'the cockpit opens the list behind each count, goes to every view by its name, back and ahead, acts on marked rows after a word was typed, copies, opens pages, sorts and chooses columns; a merchant has the same of his own data',
    'gw-cockpit-beyond':
      'a list of any length is reached to its end while a bounded number of its rows is held',
    'gw-waiting-money':
      'money that waits for a person is listed with its amount at 80 columns, with all that is known and every invoice it could pay, and booked where it is shown',
    'gw-links':
      'on a terminal with colours ids open their page, transactions and addresses their explorer, by OSC 8; nothing but a web address is linked',
    'gw-open':
      'gw open leads to the page of an invoice or a unit, and to the explorer of a transaction or an address, by any reference; where there is no terminal or no browser, and with --print, it prints the address',
    'gw-own-aliases':
      'A person gives command lines names of his own: they shadow no command, take words behind them, and complete',
    'gw-inbox-work':
      'gw admin inbox --work goes through what waits one by one: what it could pay, a preview of the booking, and Enter books',
    'gw-for-people':
      'people read money with its sign at the right, times both ways and ids by their end; columns go before anything is cut; no JSON but with --json',
    'gw-plain-words':
      'hints name commands and no calls, faults are in plain words, and a new password is asked for twice',
    'gw-lists':
      'a list ends with what it leaves out and how to see it; --all, --search and --since read every page that they need',
    'gw-short-ids':
      'the first or last eight characters of an id are taken where it is, and refused with the candidates where they are several',
    'gw-progress': 'what takes longer than 300 ms is reported on a terminal, and leaves no trace',
    'gw-start':
      'a command starts in little more time than Node.js itself, 1.6 times at most by the bench: what is slow to load is loaded where it is used',
    'gw-watch': 'gw invoice watch and wait follow an invoice to its end',
    'gw-qr': 'gw invoice qr draws the payload',
    'gw-api': 'gw api METHOD PATH calls anything',
    'gw-completion': 'gw completion SHELL completes nouns, verbs and flags',
    'gw-mcp': 'gw mcp speaks MCP',
    'gw-doctor': 'gw doctor names what is wrong and the command that fixes it',
  },
} as const;

export const writes = {
  source: 'decisions: §11',
  sentences: {
    'idempotency-replay': 'same Idempotency-Key and body: the first answer again, for 24 h',
    'idempotency-mismatch': 'same key, other body: 422',
    'idempotency-in-progress': 'while the first is in progress: 409',
    'idempotency-where': 'invoices, checkout, refill, credit and units take it',
    'request-id': 'X-Request-Id is on every answer and in every log line',
    'error-shape': 'errors other than 422 are {detail, code, request_id}',
    'html-policy': 'every HTML answer carries a Content-Security-Policy, fragments and mails included',
    'log-names-operator': 'public logs name the operator as such, never which user, nor what he wrote',
    'validation-secrets': 'a 422 repeats nothing that looks like a key, whichever field it came in',
  },
} as const;

export const reading = {
  source: 'architecture: One interface for blockchains',
  sentences: {
    'cursor-with-data': 'the cursor moves only in the transaction that stores what was read',
    'read-again': 'what fails is read again; nothing is skipped',
    'read-ranges': 'the ranges read are recorded, so that a gap can be shown not to exist',
    'read-per-batch': 'reading costs per batch of addresses or block, never per invoice',
  },
} as const;
