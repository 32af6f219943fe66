// Runs once before the tests: builds what browsers are given, which the sources read from dist/assets.
import { build } from 'rolldown';
import type { TestProject } from 'vitest/node';
import { browser } from '../../rolldown.config.ts';

export default async function setup(project: TestProject): Promise<void> {
  await build(browser);
  project.onTestsRerun(async () => {
    await build(browser);
  });
}
