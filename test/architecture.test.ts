// Holds the code to ARCHITECTURE.md: the rooms, their arrows and the rules of the house, read from the code.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { blockchains, gatewayIds } from '../src/chains/gateways.ts';
import { verifies } from './requirements.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const rooms = ['bin', 'cli', 'daemon', 'data', 'src'];
const MAX_FUNCTION_LINES = 70;

interface Module {
  /** Below the root: `src/money.ts`. */
  path: string;
  text: string;
  tree: ts.SourceFile;
}

function modulesOf(folder: string): Module[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|js|mjs)$/.test(name) && !name.includes('node_modules'))
    .map((name) => {
      const path = `${folder}/${name}`;
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
    });
}

const modules = rooms.flatMap(modulesOf);
const tests = modulesOf('test');
const room = (path: string): string => path.split('/')[0] ?? '';

/** Calls `see` for every node of a module. */
function walk(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => walk(child, see));
}

/** Where a node stands, for the message of a failure. */
const at = ({ path, tree }: Module, node: ts.Node): string =>
  `${path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;

/** Of which module the build makes each program. */
const programs: Record<string, string> = {
  'dist/gatewayd/main.cjs': 'daemon/main.ts',
  'dist/gw/main.js': 'cli/main.ts',
};

/** `import(…)`, and in `bin/`, where built files are named, `require(…)` and `require.resolve(…)`. */
const isLoading = ({ expression }: ts.CallExpression, tree: ts.SourceFile, path: string): boolean =>
  expression.kind === ts.SyntaxKind.ImportKeyword ||
  (room(path) === 'bin' && /^require(\.resolve)?$/.test(expression.getText(tree)));

/** What a module imports: packages by name, other modules by their path below the root, built ones as their source. */
function importsOf({ path, tree }: Module): string[] {
  const found: string[] = [];
  walk(tree, (node) => {
    const named =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && isLoading(node, tree, path)
          ? node.arguments[0]
          : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
            ? node.argument.literal
            : undefined;
    if (!named || !ts.isStringLiteral(named)) return;
    const name = named.text.startsWith('.') ? join(dirname(path), named.text) : named.text;
    found.push(programs[name] ?? name);
  });
  return found;
}

const imports = modules.map((module) => ({ path: module.path, imports: importsOf(module) }));
const isPackage = (name: string): boolean => !rooms.includes(room(name)) && !/^(test|\.)/.test(name);

/** `path → import` of everything that a room imports and `allowed` does not let in. */
const strangers = (of: string[], allowed: (name: string, path: string) => boolean): string[] =>
  imports
    .filter(({ path }) => of.includes(room(path)))
    .flatMap(({ path, imports }) =>
      imports.filter((name) => !allowed(name, path)).map((name) => `${path} → ${name}`),
    );

describe('the rooms', () => {
  test('are the folders there are', () => {
    const folders = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
      // What tools write: installed, built and measured.
      .filter((name) => !['node_modules', 'dist', 'coverage'].includes(name));
    expect(folders.sort()).toEqual([...rooms, 'test'].sort());
  });

  test('import along the arrows only', () => {
    const arrows: Record<string, string[]> = {
      bin: ['bin', 'cli', 'daemon'],
      cli: ['cli', 'src'],
      daemon: ['daemon', 'data', 'src'],
      data: ['data', 'src'],
      src: ['src'],
    };
    const allowed = (name: string, path: string) =>
      isPackage(name) || (arrows[room(path)] ?? []).includes(room(name));
    expect(strangers(rooms, allowed)).toEqual([]);
    // And the reader of imports is not blind: each arrow is gone along somewhere.
    for (const [from, to] of Object.entries(arrows))
      for (const one of to)
        expect(
          strangers([from], (name) => room(name) !== one),
          `${from} → ${one}`,
        ).not.toEqual([]);
  });

  test('of what is true use zod and codecs only, no part of Node', () => {
    const codecs = /^(@noble\/(hashes|curves)|@scure\/base|@ton\/core)(\/|$)/;
    // The MCP server speaks through what it is handed: it has no connection of its own.
    const handed: Record<string, string> = {
      'src/mcp.ts': '@modelcontextprotocol/server',
    };
    const allowed = (name: string, path: string) =>
      !isPackage(name) || name === 'zod' || codecs.test(name) || handed[path] === name;
    expect(strangers(['src'], allowed)).toEqual([]);
  });

  test('of what is true have no clock, no chance, no sockets and no process', () => {
    const effects = new Set(
      `fetch XMLHttpRequest WebSocket EventSource setTimeout setInterval setImmediate queueMicrotask process
       performance crypto console require navigator`.split(/\s+/),
    );
    const found = modules
      .filter(({ path }) => room(path) === 'src')
      .flatMap((module) => {
        const places: string[] = [];
        walk(module.tree, (node) => {
          const text = node.getText(module.tree);
          const isClock =
            (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) ||
            (ts.isPropertyAccessExpression(node) && /^(Date\.now|Math\.random|globalThis\.\w+)$/.test(text));
          if (isClock || (isValue(node) && effects.has(text))) places.push(`${at(module, node)} ${text}`);
        });
        return places;
      });
    expect(found).toEqual([]);
  });

  test('know SQL in one place', () => {
    const databases = /^(kysely|pg|better-sqlite3)(\/|$)/;
    const exempt: Record<string, string> = {
      // The type of one connection that holds the lock of the data directory; it reads and writes nothing.
      'daemon/process/instance-lock.ts': 'better-sqlite3',
    };
    const allowed = (name: string, path: string) => !databases.test(name) || exempt[path] === name;
    expect(strangers(['bin', 'cli', 'daemon', 'src'], allowed)).toEqual([]);
    // And a statement can be built without an import: by the query that is handed around.
    expect(statementsOf(modules.filter(({ path }) => room(path) !== 'data'))).toEqual([]);
    expect(statementsOf(modules.filter(({ path }) => room(path) === 'data'))).not.toEqual([]);
  });

  test('load SQLite in one place, which knows what the running Node.js can load', () => {
    const loads = /^import (?!type ).*from 'better-sqlite3/m;
    const found = [...modules, ...tests].filter(({ text }) => loads.test(text)).map(({ path }) => path);
    expect(found).toEqual([]);
  });

  test('import in no circle, types included', () => {
    const graph = new Map([...modules, ...tests].map((module) => [module.path, importsOf(module)]));
    expect(circlesOf(graph)).toEqual([]);
    // And the finder is not blind.
    const ring = { a: ['b'], b: ['c'], c: ['b'] };
    expect(circlesOf(new Map(Object.entries(ring)))).toEqual([['b', 'c']]);
  });
});

/** Where a query builder of the database is called. */
function statementsOf(of: readonly Module[]): string[] {
  const builders = new Set(`selectFrom insertInto replaceInto updateTable deleteFrom mergeInto`.split(' '));
  return of.flatMap((module) => {
    const places: string[] = [];
    walk(module.tree, (node) => {
      const builds = ts.isPropertyAccessExpression(node) && builders.has(node.name.text);
      const writes = ts.isTaggedTemplateExpression(node) && node.tag.getText(module.tree).startsWith('sql');
      if (builds || writes) places.push(at(module, node));
    });
    return places;
  });
}

/** Groups of modules that import each other, in however many steps, each sorted (Tarjan). */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    lowest.set(path, order.size - 1);
    stack.push(path);
    for (const next of graph.get(path) ?? []) {
      if (!graph.has(next)) continue;
      const known = order.get(next);
      if (known === undefined) visit(next);
      if (known === undefined || stack.includes(next))
        lowest.set(path, Math.min(lowest.get(path) ?? 0, lowest.get(next) ?? 0, known ?? order.size));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const circle = stack.splice(stack.indexOf(path));
    if (circle.length > 1) circles.push(circle.sort());
  };
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
  return circles;
}

test('state has an owner: nothing is held outside it, neither hung on an object nor in a module', () => {
  const places = modules
    // Of pages whose text never changes, and of texts in languages.
    .filter(({ path }) => path.startsWith('daemon/') && !path.startsWith('daemon/checkout/'))
    .flatMap((module) =>
      module.tree.statements
        .filter(
          (one) =>
            ts.isVariableStatement(one) &&
            one.declarationList.declarations.some(
              ({ initializer }) =>
                initializer !== undefined &&
                ts.isNewExpression(initializer) &&
                /^(Weak)?(Map|Set)$/.test(initializer.expression.getText(module.tree)) &&
                !initializer.arguments?.length,
            ),
        )
        .map((one) => at(module, one)),
    );
  expect(places).toEqual([]);
});

describe('a route', () => {
  const routes = modules.filter(({ path }) => /^daemon\/routes\/(?!routes\.ts$)/.test(path));

  test('is imported by the list of routes only: no handler calls another, and no rule lives in one', () => {
    const found = imports
      .filter(({ path }) => path !== 'daemon/routes/routes.ts')
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => name.startsWith('daemon/routes/') && name !== 'daemon/routes/routes.ts')
          .map((name) => `${path} → ${name}`),
      );
    expect(found).toEqual([]);
  });

  test('has no function besides its handlers', () => {
    expect(routes.length).toBeGreaterThan(5);
    const found = routes.flatMap((module) =>
      module.tree.statements
        .filter(
          (one) =>
            ts.isFunctionDeclaration(one) ||
            ts.isClassDeclaration(one) ||
            (ts.isVariableStatement(one) &&
              one.declarationList.declarations.some(
                ({ initializer }) => initializer !== undefined && ts.isFunctionLike(initializer),
              )),
        )
        .map((one) => at(module, one)),
    );
    expect(found).toEqual([]);
  });
});

describe('money', () => {
  test('has one door: settlement is imported through it', () => {
    const inside = /^daemon\/settle\/(?!settle\.ts$)/;
    const outside = imports.filter(({ path }) => !path.startsWith('daemon/settle/'));
    expect(
      outside.flatMap(({ path, imports }) =>
        imports.filter((name) => inside.test(name)).map((name) => `${path} → ${name}`),
      ),
    ).toEqual([]);
  });

  test('is written in settlement only, and elsewhere for a reason', () => {
    const writers = moneyWriters();
    // The reader of statements is not blind: it knows these.
    expect([...writers]).toEqual(
      expect.arrayContaining([
        'insertIncome',
        'insertDelivery',
        'bookTransfers',
        'placeTransfers',
        'moveInvoice',
        'updatePayment',
      ]),
    );
    const found = modules
      .filter(({ path }) => room(path) !== 'data' && !path.startsWith('daemon/settle/'))
      .flatMap((module) => writesIn(module, writers));
    expect(found.sort()).toEqual(Object.keys(reasons).sort());
  });
});

/** Tables that say what was paid, booked and owed; each is written by functions of `data/` only. */
const moneyTables = [
  'balances',
  'deliveries',
  'income',
  'income_totals',
  'invoices',
  'ledger',
  'payment_logs',
  'payments',
  'transfers',
];

/** Calls outside settlement that write a table of money, and why. */
const reasons: Record<string, string> = {
  'daemon/commands/reread.ts rereadBlockchain': 'transfers are asked for again; what is booked stays',
  'daemon/invoices/amounts.ts release': 'a reserved amount is given back; the status stays',
  'daemon/invoices/amounts.ts releaseEnded': 'reserved amounts are given back; the status stays',
  'daemon/observer/observer.ts releaseAmounts': 'reserved amounts are given back; the status stays',
  'daemon/observer/witness.ts witnessTransfer': 'notes that a second provider has the transfer',
  'daemon/process/lost-secret.ts replaceLostSecret':
    'a restored copy gets another secret before it counts: hashes of the ledger under a new key; no money',
  'daemon/retention/retention.ts foldDust': 'in which sum of dust a transfer is; no money',
  'daemon/observer/untimed.ts giveSeconds':
    'after an upgrade, what an open invoice waits for; no status moves',
  'daemon/invoices/create.ts forgetBuyer':
    'what is paid, over or nearly over is shown to its buyer no more; nothing of its money changes',
  'daemon/retention/retention.ts forgetCallers':
    'who asked without credentials is forgotten; the invoice stays',
  'daemon/retention/retention.ts removeEvents': 'deliveries of events that go; no money',
  'daemon/retention/retention.ts removeLogs': 'logs of what has ended; no money',
  'daemon/shop/receipts.ts claimReceipt': 'one daemon mails a receipt; no money',
  'daemon/shop/receipts.ts forgetEmail': 'the address of a receipt that was sent is forgotten',
  'daemon/shop/receipts.ts forgetUnpaidEmails': 'addresses of what ended unpaid are forgotten',
  'daemon/webhooks/attempts.ts finishDelivery': 'how an attempt ended',
  'daemon/webhooks/attempts.ts unclaimDeliveries': 'what a stop interrupts unsent is given back',
  'daemon/webhooks/queue.ts abandonDeliveries': 'attempts of a daemon that is gone',
  'daemon/webhooks/queue.ts claimDeliveries': 'an attempt is claimed before it is sent',
  'daemon/webhooks/queue.ts insertManualDelivery': 'a webhook is sent again on request',
  'daemon/webhooks/queue.ts unclaimDeliveries': 'a claim whose answer was lost is given back',
};

/** Functions of `data/` that write a table of money, also through each other. */
function moneyWriters(): Set<string> {
  const bodies: { path: string; name: string; is_exported: boolean; text: string }[] = [];
  const note = (
    path: string,
    of: ts.Statement,
    name: string,
    body: ts.Node | undefined,
    tree: ts.SourceFile,
  ) => {
    const is_exported = ts.canHaveModifiers(of) && !!ts.getModifiers(of)?.some(isExport);
    if (body) bodies.push({ path, name, is_exported, text: body.getText(tree) });
  };
  for (const { path, tree } of modules)
    if (room(path) === 'data' && !path.startsWith('data/migrations/'))
      for (const one of tree.statements) {
        if (ts.isFunctionDeclaration(one) && one.name) note(path, one, one.name.text, one.body, tree);
        if (ts.isVariableStatement(one))
          for (const { name, initializer } of one.declarationList.declarations)
            note(path, one, name.getText(tree), initializer, tree);
      }
  const tables = moneyTables.join('|');
  const writes = new RegExp(
    `(insertInto|updateTable|deleteFrom)\\('(${tables})'|(update|insert into|delete from) (${tables})\\b`,
  );
  const writers = new Set(bodies.filter(({ text }) => writes.test(text)));
  for (let before = -1; before < writers.size; ) {
    before = writers.size;
    for (const { path, name, is_exported } of [...writers]) {
      const call = new RegExp(`(?<![.\\w])${name}\\(`);
      for (const each of bodies)
        if ((is_exported || each.path === path) && call.test(each.text)) writers.add(each);
    }
  }
  const found = new Set([...writers].flatMap(({ name, is_exported }) => (is_exported ? name : [])));
  // What it makes writes, by the method `post`, and that is what is called.
  found.delete('createLedger');
  return found;
}

const isExport = ({ kind }: ts.ModifierLike): boolean => kind === ts.SyntaxKind.ExportKeyword;

/** `path name` of each of these functions that a module imports, and of `ledger.post` where it is called. */
function writesIn(module: Module, writers: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  walk(module.tree, (node) => {
    if (ts.isImportSpecifier(node) && writers.has((node.propertyName ?? node.name).text))
      found.add(`${module.path} ${(node.propertyName ?? node.name).text}`);
    if (!ts.isPropertyAccessExpression(node)) return;
    const of = node.expression.getText(module.tree);
    if ((of === 'data' && writers.has(node.name.text)) || /(^|\.)ledger$/.test(of))
      found.add(`${module.path} ${node.name.text}`);
  });
  return [...found];
}

/** An identifier that stands for a value: no name of a member, of a property, of a type. */
function isValue(node: ts.Node): boolean {
  if (!ts.isIdentifier(node)) return false;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) return parent.name !== node;
  return !ts.isPropertySignature(parent) && !ts.isTypeNode(parent) && !ts.isQualifiedName(parent);
}

/** Lines of a function without those of the functions in it; 0 for anything else. */
function ownLines(tree: ts.SourceFile, node: ts.Node): number {
  if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return 0;
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line;
  const length = (of: ts.Node) => lineOf(of.end) - lineOf(of.getStart(tree));
  let inner = 0;
  const visit = (child: ts.Node): void => {
    if (ts.isFunctionLike(child) && 'body' in child) inner += length(child);
    else ts.forEachChild(child, visit);
  };
  ts.forEachChild(node.body, visit);
  return length(node) + 1 - inner;
}

describe('shared code names no chain', () => {
  const ids = new Set([...gatewayIds, ...blockchains.map(({ id }) => id)]);
  // A word of code as well: URLs have one.
  ids.delete('base');

  // `src/chains` is where chains are named. The guides are prose and code for people to copy; an `example` of an
  // endpoint is a request that the tests send. Both have to name one.
  const shared = modules.filter(({ path }) => !/^src\/(chains|guides)\//.test(path));
  const isExample = (node: ts.Node): boolean =>
    (ts.isPropertyAssignment(node) && node.name.getText() === 'example') ||
    (node.parent !== undefined && isExample(node.parent));

  test('as text or as the name of a property', () => {
    const found = shared.flatMap((module) => {
      const places: string[] = [];
      walk(module.tree, (node) => {
        const names =
          ts.isStringLiteralLike(node) ||
          (ts.isIdentifier(node) &&
            (ts.isPropertyAssignment(node.parent) || ts.isPropertyAccessExpression(node.parent)));
        if (!names || !ids.has(node.text) || isExample(node)) return;
        places.push(`${at(module, node)} ${node.text}`);
      });
      return places;
    });
    expect(found).toEqual([]);
  });

  test('in what it says: what people read is made of the values', () => {
    const words = [...ids, ...blockchains.map(({ name }) => name)].filter((word) => word !== 'Base');
    // Wallets' protocols that are called after one, which people search for.
    const named = new RegExp(`(?<![\\w-])(${words.join('|')})(?![\\w-]| Pay\\b| Connect\\b)`);
    // Commands to copy, and the words to search by.
    const isCommand = (line: string) => /^\s*(gw|gatewayd|echo) /.test(line);
    const isKeywords = ({ parent }: ts.Node) =>
      parent && ts.isPropertyAssignment(parent) && parent.name.getText() === 'keywords';
    const textsOf = (node: ts.Node): string[] =>
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
        ? node.text.split('\n')
        : [];
    const found = shared.flatMap((module) => {
      const places: string[] = [];
      walk(module.tree, (node) => {
        if (isExample(node) || isKeywords(node)) return;
        for (const line of textsOf(node))
          if (named.test(line) && !isCommand(line)) places.push(`${at(module, node)} ${line}`);
      });
      return places;
    });
    expect(found).toEqual([]);
    expect(named.test('on `ton-usdt`') && named.test('TRON only') && !named.test('TON Connect')).toBe(true);
  });

  test('as a family', () => {
    const families =
      /^src\/chains\/(?!gateways\.ts$|family\.ts$|assets\.ts$|catalogue\.ts$|custom\.ts$|explorers\.ts$|json\.ts$|known-hosts\.ts$|or-failed\.ts$|refusals\.ts$|samples\.ts$|sandbox\.ts$|steps\.ts$|upgrades\.ts$|usual\.ts$)/;
    const outside = imports.filter(({ path }) => !path.startsWith('src/chains/'));
    expect(
      outside.flatMap(({ path, imports }) =>
        imports.filter((name) => families.test(name)).map((name) => `${path} → ${name}`),
      ),
    ).toEqual([]);
  });
});

describe('a module', () => {
  test('opens with one line that says what it is', () => {
    const opens = /^(#!\/usr\/bin\/env node\nconst \[|(\/\*\* @jsxImportSource \w+ \*\/\n)?\/\/ \S)/;
    const silent = [...modules, ...tests].filter(({ text }) => !opens.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test(`has no function over ${MAX_FUNCTION_LINES} lines`, () => {
    const long = modules.flatMap((module) => {
      const places: string[] = [];
      walk(module.tree, (node) => {
        const lines = ownLines(module.tree, node);
        if (lines > MAX_FUNCTION_LINES) places.push(`${at(module, node)} has ${lines}`);
      });
      return places;
    });
    expect(long).toEqual([]);
  });

  test('leaves nothing to be done later', () => {
    // Written apart, so that this line does not find itself.
    const later = new RegExp(
      `\\b(${['TO', 'FIX'].map((word) => `${word}${word === 'TO' ? 'DO' : 'ME'}`).join('|')})\\b`,
    );
    const found = [...modules, ...tests].filter(({ text }) => later.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test('is no barrel and stands in no folder for anything', () => {
    const vague =
      /(^|\/)(utils?|helpers?|services?|repositor(y|ies)|managers?|common|lib)(\/|\.)|(^|\/)index\.tsx?$/;
    expect(modules.map(({ path }) => path).filter((path) => vague.test(path))).toEqual([]);
    expect(modules.filter(({ text }) => /^export \* from/m.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test('skips no test and runs none alone', () => {
    const alone = /\b(test|it|describe)\.(skip|only|todo|fails)\b/;
    expect(tests.filter(({ text }) => alone.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

test('nothing that could spend is in the product: no private key, no seed phrase, no signing of transactions', () => {
  verifies('no-signing');
  const spending =
    /private_?key|secret_?key|mnemonic|seed_?phrase|key_?pair|sign_?transaction|secp256k1|ecdsa/i;
  const found = modules.flatMap((module) => {
    const places: string[] = [];
    walk(module.tree, (node) => {
      const names = ts.isIdentifier(node) || ts.isStringLiteralLike(node);
      // Of prose only whole words count: a guide says that no private key is ever asked for.
      if (names && !node.text.includes(' ') && spending.test(node.text)) places.push(at(module, node));
      // Addresses need the curve; they never need its signatures.
      const curve =
        ts.isPropertyAccessExpression(node) && /^(ed25519|schnorr)$/.test(node.expression.getText());
      if (curve && /^(sign|keygen|getPublicKey|getSharedSecret)$/.test(node.name.text))
        places.push(at(module, node));
    });
    return places;
  });
  expect(found).toEqual([]);
});

test('money never becomes a float', () => {
  const money =
    /(amount|_atomic|_micros|_nanos|usd|price|prepaid|balance|_fee\b|fee_charged|limit_of_payments)/i;
  const found = modules.flatMap((module) => {
    const places: string[] = [];
    walk(module.tree, (node) => {
      if (!ts.isCallExpression(node)) return;
      const callee = node.expression.getText(module.tree);
      const of = node.arguments.map((argument) => argument.getText(module.tree)).join();
      const floats = ['parseFloat', 'Number.parseFloat'].includes(callee) || callee.endsWith('.toFixed');
      if (floats || (callee === 'Number' && money.test(of)))
        places.push(`${at(module, node)} ${node.getText()}`);
    });
    return places;
  });
  expect(found).toEqual([]);
});
