// What `gatewayd/client` exports, types included: a change of it reaches everybody who builds on the client.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const entry = `${root}src/api/client/client.ts`;
const FLAGS =
  ts.TypeFormatFlags.NoTruncation |
  ts.TypeFormatFlags.InTypeAlias |
  ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;

/** Every export with its type; of types, their members. */
function surface(): string {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile).config,
    ts.sys,
    root,
  );
  const program = ts.createProgram([entry], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${entry} is no module`);

  const text = (type: ts.Type): string => checker.typeToString(type, undefined, FLAGS).replaceAll(root, '');
  const listed = (type: ts.Type, indent: string, show: (member: ts.Symbol) => string): string[] =>
    type
      .getProperties()
      // What every Error has is not ours to list.
      .filter(
        ({ declarations = [] }) =>
          !declarations.some((one) => /node_modules/.test(one.getSourceFile().fileName)),
      )
      .map((member) => {
        const optional = member.flags & ts.SymbolFlags.Optional ? '?' : '';
        return `${indent}${member.name}${optional}: ${show(member)}`;
      })
      .sort();
  const plain = (member: ts.Symbol): string => text(checker.getTypeOfSymbol(member));
  /** A method of the client: what each part of its input takes, and what it answers. */
  const shown = (member: ts.Symbol): string => {
    const [call] = checker.getTypeOfSymbol(member).getCallSignatures();
    const input = call?.parameters.find(({ name }) => name === 'input');
    const is_method = call?.parameters.some(({ name }) => name === 'options');
    if (!call || !input || !is_method) return plain(member);
    const taken = checker.getNonNullableType(checker.getTypeOfSymbol(input));
    return [text(call.getReturnType()), ...listed(taken, '    ', plain)].join('\n');
  };
  const members = (type: ts.Type): string[] => listed(type, '  ', shown);

  return checker
    .getExportsOfModule(module)
    .map((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const is_type =
        (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class)) !== 0;
      if (!is_type) return `${exported.name}: ${text(checker.getTypeOfSymbol(symbol))}`;
      return [`${exported.name}:`, ...members(checker.getDeclaredTypeOfSymbol(symbol))].join('\n');
    })
    .sort()
    .join('\n\n');
}

test('the client exports what it did, type by type', async () => {
  await expect(`${surface()}\n`).toMatchFileSnapshot('client.surface.txt');
});

test('package.json names the types and the code of the client', () => {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  for (const path of Object.values<string>(exports['./client']))
    expect(
      existsSync(`${root}${path.replace(/^\.\/dist\//, '').replace(/(\.d\.ts|\.js)$/, '.ts')}`),
      path,
    ).toBe(true);
});
