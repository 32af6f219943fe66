// Closes the loop between the specification and the tests: no promise without a test, no name without a promise.
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { requirements, verifies } from './requirements.ts';

const root = new URL('.', import.meta.url);
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
  .filter((path) => !/^requirements(\.test)?\.ts$/.test(path));

/** Functions whose callbacks are tests, or hold them. */
const holders = new Set(['test', 'it', 'describe']);

/** The name that a chain of calls begins with: `describe` of `describe.skipIf(…).each(…)(…)`. */
function beginning(node: ts.Expression): string {
  let at = node;
  while (ts.isCallExpression(at) || ts.isPropertyAccessExpression(at)) at = at.expression;
  return ts.isIdentifier(at) ? at.text : '';
}

/** Every id of a `verifies(…)` call, and whether the call stands in a test. */
function named(path: string): { id: string; path: string; in_test: boolean }[] {
  const text = readFileSync(new URL(path, root), 'utf8');
  if (!text.includes('verifies(')) return [];
  const found: { id: string; path: string; in_test: boolean }[] = [];
  const visit = (node: ts.Node, in_test: boolean): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'verifies')
      for (const id of node.arguments)
        found.push({ id: ts.isStringLiteral(id) ? id.text : id.getText(), path, in_test });
    const inside = in_test || (ts.isCallExpression(node) && holders.has(beginning(node.expression)));
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true), false);
  return found;
}

const calls = sources.flatMap(named);

test('every requirement is verified by a test', () => {
  const verified = new Set(calls.map(({ id }) => id));
  const open = requirements.filter(({ id }) => !verified.has(id));
  expect(open.map(({ id, source, sentence }) => `${id} (${source}): ${sentence}`)).toEqual([]);
});

test('tests name only requirements that exist, and name them inside a test', () => {
  const ids = new Set(requirements.map(({ id }) => id));
  expect(calls.filter(({ id }) => !ids.has(id))).toEqual([]);
  expect(calls.filter(({ in_test }) => !in_test)).toEqual([]);
});

test('every requirement has an id of its own, a section and a sentence', () => {
  const ids = requirements.map(({ id }) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
  for (const { source, sentence } of requirements) {
    expect(source).toMatch(/^(spec: [A-Z]|decisions: §|architecture: [A-Z])/);
    expect(sentence).not.toBe('');
  }
  // A way to say it that is not typed would count without the compiler: the helper is the one way.
  expect(verifies.length).toBe(0);
});
