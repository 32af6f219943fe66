// `gw setup`: by flags, without a terminal, and as questions to a person, each answer checked as it is given.
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wallets } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { openStage, type Stage } from './helpers/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage('setup@example.com');
});
afterAll(() => stage.close());

interface Step {
  name: string;
  value: string | null;
  command: string;
}

const steps = async (args: string[] = []): Promise<Record<string, Step>> => {
  const { code, json } = await stage.gw(['setup', '--json', ...args]);
  expect(code).toBe(0);
  return Object.fromEntries(json.steps.map((step: Step) => [step.name, step]));
};

it('shows without a terminal what is set, and the command for the rest', async () => {
  verifies('gw-setup');
  const found = await steps();
  expect(found['wallet ton']?.value).toMatch(/^0Q/);
  expect(found['wallet bitcoin']).toMatchObject({
    value: null,
    command: 'gw wallet set bitcoin ADDRESS',
  });
  expect(found.mail?.value).toBe('setup@example.com');
  expect(found.unit?.value).toBeNull();
  const { stdout } = await stage.gw(['setup']);
  expect(stdout).toMatch(/^- +wallet bitcoin +gw wallet set bitcoin ADDRESS$/m);
});

it('sets by flags, refuses a wallet that is none, and changes nothing with --dry-run', async () => {
  verifies('gw-setup');
  await steps(['--name', 'Not yet', '--dry-run']);
  const wrong = await stage.gw(['setup', '--wallet', 'bitcoin=bc1nothing', '--json']);
  expect([wrong.code, wrong.error.error.code]).toEqual([2, 'invalid_address']);
  const bare = await stage.gw(['setup', '--unit-title', 'Tea', '--json']);
  expect(bare.code).toBe(2);
  const found = await steps(['--wallet', `bitcoin=${wallets.bitcoin},solana=${wallets.solana}`]);
  expect(found['wallet solana']?.value).toBe(wallets.solana);
  expect(found.name?.value).toBeNull();
});

it('asks a person, checks each answer, and leaves alone what is only confirmed', async () => {
  verifies('gw-setup');
  const pty = stage.gw.pty(['setup'], { columns: 160 });
  await pty.see(/Wallet on bitcoin/);
  pty.write('\r');
  await pty.see(/Wallet on solana/);
  pty.write('\r');
  await pty.see(/Wallet on ton/);
  pty.write('\r');
  await pty.see(/Wallet on litecoin/);
  pty.write('nothing of the sort\r');
  await pty.see(/Invalid Litecoin testnet address/);
  pty.write(`\u0015${wallets.litecoin}\r`);
  await pty.see(/Name –/);
  pty.write('Tea House\r');
  await pty.see(/Mail –/);
  pty.write('\r');
  await pty.see(/Webhook –/);
  pty.write('https://shop.example.com/hook\r');
  await pty.see(/First unit/);
  pty.write('Coffee\r');
  await pty.see(/Its price/);
  pty.write('4.50\r');
  expect(await pty.ended).toBe(0);
  expect(stripVTControlCharacters(pty.output())).toContain('Everything is set');
  const found = await steps();
  expect(found['wallet litecoin']?.value).toBe(wallets.litecoin);
  expect(found.name?.value).toBe('Tea House');
  expect(found.webhook?.value).toBe('https://shop.example.com/hook');
  expect(found.unit?.value).toMatch(/^Coffee, 4\.5\d*/);
});
