// When a daemon takes its way to the providers of a blockchain for dead or slow, and when for good again.
import { describe, expect, test } from 'vitest';
import { createRoute, type Route } from '../../../daemon/observer/route.ts';
import { verifies } from '../../requirements.ts';

function world(blind_after_seconds = 60) {
  const now = { ms: 1_000_000, per_second: 5 as number | undefined, most_per_second: 5 };
  const route = createRoute({
    clock: { monotonic_ms: () => now.ms },
    blind_after_seconds,
    requestsPerSecond: () => now.per_second,
    mostPerSecond: () => now.most_per_second,
  });
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      now.ms += 1_000;
      route.count(1_000);
    }
  };
  return { route, pass, now };
}

function read(route: Route, is_whole = true): void {
  route.begins();
  route.answered();
  route.ended(is_whole);
}

const failOnce = (route: Route) => {
  route.begins();
  route.failed();
};

/** How many answers, so far apart, it takes until the route is good again. */
function answersUntilGood({ route, pass }: ReturnType<typeof world>, apart: number): number {
  for (let answers = 1; answers <= 60; answers++) {
    read(route);
    if (route.state() === 'ok') return answers;
    pass(apart);
  }
  return Number.POSITIVE_INFINITY;
}

describe('the route to the providers of a blockchain', () => {
  test('is dead after 20 s in which nothing came, whether they refuse or hang', () => {
    verifies('dead-route-given-back');
    const refusing = world();
    for (let each = 0; each < 19; each++) {
      failOnce(refusing.route);
      refusing.pass(1);
    }
    expect(refusing.route.state()).toBe('ok');
    refusing.pass(1);
    expect(refusing.route.state()).toBe('dead');

    const hanging = world();
    hanging.route.begins();
    hanging.pass(20);
    expect(hanging.route.state()).toBe('dead');
  });

  test('is dead sooner where a blockchain is blind sooner', () => {
    verifies('dead-route-given-back');
    const { route, pass } = world(6);
    failOnce(route);
    pass(1);
    expect(route.state()).toBe('ok');
    pass(1);
    expect(route.state()).toBe('dead');
  });

  test('is good however long the pauses are, and while a reading of hours moves on', () => {
    verifies('dead-route-given-back');
    const { route, pass } = world();
    read(route);
    pass(600);
    failOnce(route);
    pass(15);
    read(route);
    pass(600);
    expect(route.state()).toBe('ok');
    route.begins();
    for (let page = 0; page < 500; page++) {
      pass(10);
      route.answered();
    }
    expect(route.state()).toBe('ok');
  });

  test('is slow where a reading is not done in half a minute because of its answers', () => {
    verifies('dead-route-given-back');
    const { route, pass, now } = world();
    now.per_second = 0.1;
    read(route);
    pass(60);
    expect(route.state()).toBe('ok');
    for (let each = 0; each < 3; each++) {
      read(route, false);
      pass(10);
    }
    expect(route.state()).toBe('slow');
    // It stays so while the answers are as slow, and is dead once none comes.
    expect(answersUntilGood({ route, pass, now }, 10)).toBe(Number.POSITIVE_INFINITY);
    expect(route.state()).toBe('slow');
    route.begins();
    pass(20);
    expect(route.state()).toBe('dead');
  });

  test('is not slow where the settings let its providers be asked that rarely, and is good again after it was dead', () => {
    const { route, pass, now } = world();
    Object.assign(now, { per_second: 0.2, most_per_second: 0.2 });
    read(route, false);
    for (let second = 0; second < 60; second += 5) {
      read(route, false);
      pass(5);
    }
    expect(route.state()).toBe('ok');
    failOnce(route);
    pass(25);
    expect(route.state()).toBe('dead');
    expect(answersUntilGood({ route, pass, now }, 10)).toBe(3);
    Object.assign(now, { per_second: 0.1 });
    for (let second = 0; second < 60; second += 5) {
      read(route, false);
      pass(5);
    }
    expect(route.state()).toBe('slow');
  });

  test('is good again after three answers that are 10 s apart, of which no failure came between', () => {
    verifies('dead-route-steady');
    const dead = () => {
      const found = world();
      failOnce(found.route);
      found.pass(20);
      expect(found.route.state()).toBe('dead');
      return found;
    };
    expect(answersUntilGood(dead(), 10)).toBe(3);
    expect(answersUntilGood(dead(), 1)).toBe(21);
    const failing = dead();
    for (let each = 0; each < 4; each++) {
      read(failing.route);
      failing.pass(10);
      read(failing.route);
      failing.pass(10);
      failOnce(failing.route);
      failing.pass(10);
    }
    expect(failing.route.state()).toBe('dead');
    expect(answersUntilGood(failing, 10)).toBe(3);
  });

  test('needs twice as many each time it fails soon again, up to 24, and three after a good while', () => {
    verifies('dead-route-steady');
    const found = world();
    const needed: number[] = [];
    for (let each = 0; each < 6; each++) {
      failOnce(found.route);
      found.pass(20);
      needed.push(answersUntilGood(found, 10));
      found.pass(60);
    }
    found.pass(600);
    failOnce(found.route);
    found.pass(20);
    expect([...needed, answersUntilGood(found, 10)]).toEqual([3, 6, 12, 24, 24, 24, 3]);
  });

  test('that was dead before a start is dead until it answers, and is asked each 10 s', () => {
    verifies('dead-route-steady');
    const found = world();
    expect(found.route.isProbeDue(false)).toBe(false);
    expect(found.route.isProbeDue(true)).toBe(true);
    found.route.resume();
    expect(found.route.state()).toBe('dead');
    expect(found.route.isProbeDue(false)).toBe(true);
    failOnce(found.route);
    found.pass(9);
    expect(found.route.isProbeDue(true)).toBe(false);
    found.pass(1);
    expect(found.route.isProbeDue(false)).toBe(true);
    expect(answersUntilGood(found, 10)).toBe(3);
  });

  test('is no better for a reading that had nothing to ask', () => {
    verifies('dead-route-given-back');
    const { route, pass } = world();
    failOnce(route);
    for (let each = 0; each < 20; each++) {
      route.begins();
      route.ended(true);
      pass(1);
    }
    expect(route.state()).toBe('dead');
  });
});
