// Our clock against the chains' tips and the monotonic timer: when it is believed, and what the chains' times mean by it.
import { expect, test } from 'vitest';
import { createClockCheck } from '../../../daemon/process/clock-check.ts';
import { createLog } from '../../../daemon/process/log.ts';
import { testClock } from '../../helpers/clock.ts';
import { verifies } from '../../requirements.ts';

const DAY = 86_400;

/** What the time truly is, by a machine whose clock may be wrong. */
function setUp(wrong_by = 0) {
  const machine = testClock();
  const check = createClockCheck(machine);
  let error = wrong_by;
  const truth = () => machine.now() - error;
  return {
    machine,
    check,
    truth,
    /** Reads a tip that is so old. */
    tip: (age = 4, blockchain = 'one') => check.observe(blockchain, truth() - age),
    step(seconds: number) {
      machine.step(seconds);
      error += seconds;
    },
    lived: () => Math.floor(check.clock.ms() / 1000),
  };
}

test('a clock that agrees with the chains is believed, and lived by to the millisecond', () => {
  const { machine, check, tip } = setUp();
  expect(check.offset()).toBeNull();
  expect(check.trouble()).toBeNull();
  tip(5);
  machine.advance(30);
  tip(29);
  expect([check.offset(), check.trouble()]).toEqual([5, null]);
  expect(check.clock.ms()).toBe(machine.ms());
});

test('a clock that is set is noticed at once, without a chain, and is not lived by', () => {
  verifies('clock-alert');
  for (const by of [2 * DAY, -310]) {
    const { machine, check, step, lived, truth } = setUp();
    step(by);
    expect(check.trouble()?.offset_seconds).toBe(by);
    expect(lived()).toBe(truth());
    machine.advance(100);
    expect(lived()).toBe(truth());
    step(-by);
    expect(check.trouble()).toBeNull();
    expect(check.clock.ms()).toBe(machine.ms());
  }
});

test('tips of before a step tell by how much, and tips after it do not believe it', () => {
  const { machine, check, tip, step, truth, lived } = setUp();
  tip();
  step(2 * DAY);
  expect(check.trouble()?.offset_seconds).toBe(2 * DAY + 4);
  machine.advance(60);
  tip();
  expect(check.trouble()?.message).toContain('ahead of the chains');
  expect(lived()).toBe(truth());
});

test('a machine that slept is believed again as soon as a tip agrees', () => {
  const { machine, check, tip } = setUp();
  tip();
  // The monotonic timer stood still while the wall clock rightly advanced.
  machine.step(7200);
  expect(check.trouble()?.offset_seconds).toBe(7204);
  check.observe('one', machine.now() - 4);
  expect(check.trouble()).toBeNull();
  expect(check.clock.ms()).toBe(machine.ms());
});

test('a clock that was wrong from the start is not believed, and moments of the chain are measured by it', () => {
  verifies('clock-offset');
  const { machine, check, tip, step, truth, lived } = setUp(-310);
  tip();
  expect(check.trouble()?.offset_seconds).toBe(-306);
  expect(lived()).toBe(machine.now());
  // Somebody pays now: by our clock that is 310 seconds before what the chain says.
  const { earliest_at, latest_at } = check.local('one', truth());
  expect(earliest_at).toBeLessThanOrEqual(machine.now());
  expect(earliest_at).toBeGreaterThanOrEqual(machine.now() - 20);
  expect(latest_at).toBeGreaterThanOrEqual(machine.now());
  step(310);
  expect(check.trouble()).toBeNull();
  expect(lived()).toBe(truth());
});

test('a clock that is behind by less than tips are old makes no payment late', () => {
  verifies('clock-offset');
  // Tips of Solana are final first, and so about 13 seconds old.
  const { machine, check, tip, truth } = setUp(-20);
  tip(13);
  expect(check.local('one', truth()).earliest_at).toBeLessThanOrEqual(machine.now());
});

test('a clock that is behind is recalled after a start, however old the first tips are', () => {
  verifies('clock-offset');
  const { machine, check, tip, truth } = setUp(-20);
  check.recall('one', { tip_time: truth() - 604, read_at: machine.now() - 600 });
  const isMadeBy = () => check.local('one', truth()).earliest_at <= machine.now();
  expect(isMadeBy()).toBe(true);
  expect(tip(22)).toBe(true);
  expect(isMadeBy()).toBe(true);
  // Tips of its own tell better: the clock may have been set right meanwhile.
  for (let slot = 0; slot < 2; slot++) {
    machine.advance(60);
    check.observe('one', machine.now() - 4);
  }
  expect(check.local('one', machine.now()).earliest_at).toBe(machine.now());
});

test('nothing is recalled of a clock that was right, ahead, or so wrong that it was no clock to live by', () => {
  for (const ahead of [0, 20, -310]) {
    const { machine, check } = setUp();
    check.recall('one', { tip_time: machine.now() - ahead, read_at: machine.now() });
    expect(check.local('one', machine.now()).earliest_at).toBe(machine.now());
  }
});

test('a clock that another blockchain shows to be behind, or tips that are always old, makes no payment late', () => {
  verifies('clock-offset');
  for (const observe of [
    ({ check, truth }: ReturnType<typeof setUp>) => {
      check.observe('two', truth() - 1);
      check.observe('one', truth() - 14);
    },
    ({ check, truth }: ReturnType<typeof setUp>) => check.observe('one', truth() - 12, 12),
  ]) {
    const world = setUp(-3);
    observe(world);
    const { machine, check, truth } = world;
    expect(check.trouble()).toBeNull();
    expect(check.local('one', truth()).earliest_at).toBeLessThanOrEqual(machine.now());
  }
  const { machine, check, truth } = setUp();
  check.observe('one', truth() - 13, 12);
  expect(check.local('one', truth()).earliest_at).toBe(machine.now());
});

test('where no chain tells the time, it continues slowly where it was written last, until the clock has come so far', () => {
  verifies('clock-alert');
  const { machine, check, lived, tip } = setUp();
  const written_at = machine.now() + 1200;
  check.continueSlowly(written_at);
  expect(lived()).toBe(written_at);
  expect(check.trouble()?.offset_seconds).toBe(-1200);
  machine.advance(1000);
  expect(lived()).toBe(written_at + 500);
  expect(check.trouble()?.offset_seconds).toBe(-700);
  machine.advance(1400);
  expect(lived()).toBe(machine.now());
  expect(check.trouble()).toBeNull();
  // Where a chain is read, that tells.
  check.continueSlowly(machine.now() + 1200);
  tip();
  expect([lived(), check.trouble()]).toEqual([machine.now(), null]);
});

test('while it continues slowly, a clock that is set right is believed at once, and one that is set to another day is not', () => {
  verifies('clock-alert');
  for (const [set_to, is_believed] of [
    [0, true],
    [-600, true],
    [2 * DAY, false],
    [-DAY, false],
  ] as const) {
    const { machine, check, lived, truth, step } = setUp(-34 * 3600);
    // Nothing ran for a minute.
    const written_at = truth() - 60;
    check.continueSlowly(written_at);
    machine.advance(1800);
    expect(lived()).toBe(written_at + 900);
    step(34 * 3600 + set_to);
    expect(check.trouble() === null).toBe(is_believed);
    expect(lived()).toBe(is_believed ? truth() + set_to : written_at + 900);
    machine.advance(60);
    expect(lived()).toBe(is_believed ? truth() + set_to : written_at + 930);
    if (!is_believed) continue;
    // From then on a step is one.
    step(900);
    expect(check.trouble()?.offset_seconds).toBe(900);
    expect(lived()).toBe(truth() + set_to);
  }
});

test('a clock that was set back since the last reading is not lived by after a start', () => {
  verifies('clock-alert');
  const { machine, check, truth, lived, tip, step } = setUp(-42 * 3600);
  check.resume({ tip_time: truth() - 13, read_at: truth() - 9 });
  expect(lived()).toBe(truth() - 9);
  expect(check.trouble()?.offset_seconds).toBe(9 - 42 * 3600);
  // An invoice was made after that.
  check.resume({ tip_time: truth() - 13, read_at: truth() - 9 }, truth() - 6);
  expect(lived()).toBe(truth() - 9);
  tip();
  expect(check.trouble()?.offset_seconds).toBe(4 - 42 * 3600);
  // The true time is not before a tip, however long no daemon ran.
  expect(lived()).toBe(truth() - 4);
  machine.advance(60);
  tip(9);
  expect(lived()).toBe(truth() - 4);
  step(42 * 3600);
  expect(check.trouble()).toBeNull();
  expect(lived()).toBe(truth());
});

test('after a start, time continues where the last row was written', () => {
  const { check, truth, lived } = setUp(-42 * 3600);
  check.resume({ tip_time: truth() - 313, read_at: truth() - 309 }, truth() - 60);
  expect(lived()).toBe(truth() - 60);
});

test('after a start, time continues neither at a clock that was ahead nor where ours is as far', () => {
  for (const [wrong_by, read_after_tip] of [
    [0, 2 * DAY],
    [-310, 0],
    [310, 0],
  ] as const) {
    const { machine, check, lived } = setUp(wrong_by);
    // The last daemon's clock was as wrong, or wrong alone.
    check.resume({ tip_time: machine.now() - 13, read_at: machine.now() - 9 + read_after_tip });
    expect(lived()).toBe(machine.now());
  }
});

test('a daemon that reads nothing itself learns from the others that its clock is wrong, and lives by theirs', () => {
  verifies('clock-alert');
  for (const wrong_by of [-310, 310, -42 * 3600]) {
    const { machine, check, truth, lived, step } = setUp(wrong_by);
    check.hear('one', { tip_time: truth() - 14, read_at: truth() - 2 }, 12);
    expect(check.trouble()?.offset_seconds).toBe(wrong_by + 14);
    expect(lived()).toBe(truth() - 2);
    machine.advance(60);
    check.hear('one', { tip_time: truth() - 14, read_at: truth() - 2 }, 12);
    expect(lived()).toBe(truth() - 2);
    step(-wrong_by);
    expect(check.trouble()).toBeNull();
    expect(lived()).toBe(truth());
  }
});

test('a daemon whose clock is right learns nothing from one whose clock is wrong', () => {
  for (const wrong_by of [-310, 310]) {
    const { check, truth, lived } = setUp();
    check.hear('one', { tip_time: truth() - 4, read_at: truth() + wrong_by });
    expect(check.trouble()).toBeNull();
    expect(lived()).toBe(truth());
  }
});

test('the first tip of a blockchain says whether what was assumed before it was wrong', () => {
  expect(setUp().check.observe('one', 1_800_000_000 - 9)).toBe(true);
  for (const wrong_by of [-310, 310, 15]) {
    const { tip, check, truth } = setUp(wrong_by);
    expect(check.local('one', truth())).toEqual({ earliest_at: truth(), latest_at: truth() + 10 });
    expect(check.observe('one', truth() - 4)).toBe(false);
    tip();
    expect(check.observe('one', truth() - 4)).toBe(true);
  }
});

test('a tip that is ahead of our clock says once that what was dated before it may have been earlier', () => {
  for (const [age, tip_age_seconds] of [
    [4, 0],
    [14, 12],
  ] as const) {
    const { check, truth } = setUp(-6);
    const observe = () => check.observe('one', truth() - age, tip_age_seconds);
    expect(check.local('one', truth()).earliest_at).toBe(truth());
    expect(observe()).toBe(false);
    expect(check.local('one', truth()).earliest_at).toBeLessThanOrEqual(truth() - 6);
    expect(observe()).toBe(true);
  }
});

test('a clock that was corrected long ago is no trouble when no tip has been read since', () => {
  const { machine, check, tip, step } = setUp(-310);
  tip();
  step(310);
  tip();
  expect(check.trouble()).toBeNull();
  machine.advance(2 * 3600);
  expect(check.offset()).toBe(4);
  expect(check.trouble()).toBeNull();
});

test('a clock that is wrong is not believed for want of a tip, and dates what is read after a long outage', () => {
  const { machine, check, tip, truth } = setUp(-310);
  tip();
  tip();
  machine.advance(2 * 3600);
  expect(check.trouble()?.offset_seconds).toBe(-306);
  expect(tip()).toBe(true);
  expect(check.local('one', truth()).earliest_at).toBeLessThanOrEqual(machine.now());
});

test('clocks that drifted apart while no tip could be read: the first one says so, and what it dated is read again', () => {
  const { machine, check, tip, truth } = setUp();
  const drifted = () => check.observe('one', truth() + 24 - 4);
  tip();
  machine.advance(12 * 3600);
  expect(drifted()).toBe(false);
  expect(drifted()).toBe(true);
  expect(check.local('one', truth() + 24).earliest_at).toBeLessThanOrEqual(machine.now());
});

test('a lone provider that is behind ends nothing and moves no clock', () => {
  const { machine, check, tip, lived } = setUp();
  for (let age = 0; age <= 3600; age += 60) {
    machine.advance(60);
    tip(age + 4000);
  }
  expect(check.trouble()?.message).toMatch(/or their providers are behind/);
  expect(lived()).toBe(machine.now());
  // What it has not shown yet may have been made as late as now.
  expect(check.local('one', machine.now() - 4000).latest_at).toBeGreaterThanOrEqual(machine.now());
});

test('of two blockchains, the provider of one that lies, or is behind, hides no clock and makes no alert', () => {
  for (const lie of [-2 * DAY, 2 * DAY, 7200]) {
    const { check, tip, truth } = setUp();
    tip(4, 'honest');
    tip(lie, 'liar');
    expect(check.trouble()).toBeNull();
    const honest = check.local('honest', truth());
    expect(honest).toEqual({ earliest_at: truth(), latest_at: truth() + 4 });
  }
  // Nor does a liar that agrees with a wrong clock make payments of the other late.
  const { machine, check, tip, truth } = setUp(-310);
  tip(4, 'honest');
  check.observe('liar', machine.now() - 2);
  expect(check.local('honest', truth()).earliest_at).toBeLessThanOrEqual(machine.now());
});

test('what a slow provider calls a moment may have been later, but not by more than is tolerated', () => {
  const { machine, check, tip, truth } = setUp();
  tip(1);
  machine.advance(300);
  tip(9);
  expect(check.local('one', truth() - 9)).toEqual({ earliest_at: truth() - 9, latest_at: truth() });
  tip(500);
  expect(check.local('one', truth() - 500).latest_at).toBe(truth() - 500 + 31);
});

test('the operator is alerted when it begins, and sees when it is over', () => {
  verifies('clock-alert');
  const { check, tip, step } = setUp();
  const lines: string[] = [];
  const log = createLog({ level: 'debug', sink: { write: (line) => lines.push(line) } });
  tip();
  check.report(log);
  step(2 * DAY);
  check.report(log);
  check.report(log);
  step(-2 * DAY);
  check.report(log);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', alert: 'clock', offset_seconds: 2 * DAY + 4 },
    { level: 'warn', msg: 'the clock agrees with the chains again' },
  ]);
});

test('the grace ends nothing until there was time to read', () => {
  const { machine, check } = setUp();
  expect(check.hasRun()).toBe(false);
  machine.step(DAY);
  expect(check.hasRun()).toBe(false);
  machine.advance(600);
  expect(check.hasRun()).toBe(true);
});
