// Lets a child process of a test run TypeScript from the checkout: node --import test/helpers/typescript-hooks.mjs
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import ts from 'typescript';

// Node loads this file again on the thread where it asks the hook.
if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  if (!/\.tsx?$/.test(url)) return next(url, context);
  const source = await readFile(new URL(url), 'utf8');
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    jsx: ts.JsxEmit.ReactJSX,
  };
  return {
    format: 'module',
    shortCircuit: true,
    source: ts.transpileModule(source, { compilerOptions, fileName: url }).outputText,
  };
}
