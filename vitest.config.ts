import { defineConfig } from 'vitest/config';

/** Tests that need no server, no chain software and no built program: seconds in all (`npm run test:unit`). */
export const unit = [
  'test/{architecture,papers,requirements,words}.test.ts',
  'test/src/*.test.ts',
  'test/src/api/{endpoint,fields,openapi,validation}.test.ts',
  'test/src/chains/*.test.ts',
  'test/api/mounted.test.ts',
  'test/chains/recorded/*.test.ts',
  'test/cli/{shop-file,tree,writer}.test.ts',
  'test/data/ids.test.ts',
  'test/daemon/checkout/{language,qr}.test.ts',
  'test/daemon/http/{handler,limits,proxies}.test.ts',
  'test/daemon/mail/mail.test.ts',
  'test/daemon/observer/{provider,rpc}.test.ts',
  'test/daemon/process/log.test.ts',
  'test/daemon/rates/rates.test.ts',
  'test/daemon/settings/{config,custom}.test.ts',
  'test/daemon/webhooks/egress.test.ts',
];

/**
 * Tests that end all they began, so that they share what they import. Those that kill daemons stay alone: the compiler
 * of TON's contracts ends the process where a request that was broken off rejects late.
 */
const shared = [
  'test/{api,cli,data}/*.test.ts',
  // How long others wait is longer where the heap is full of what other tests left.
  'test/chains/!(oversized).test.ts',
  'test/daemon/{accounts,admin,backup,checkout,discovery,events,http,invoices,observer,process,rates,settle,verify,webhooks}/*.test.ts',
  'test/daemon/{loop,retention}.test.ts',
  // What a password of no one costs is measured by the first that its process hashes.
  'test/daemon/routes/!(login).test.ts',
];

const setupFiles = ['test/helpers/quick-hash.ts'];
const globalSetup = ['test/helpers/browser-build.ts', 'test/helpers/global.ts'];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // One more than the two cores it is tuned for: many tests wait for blocks and locks, others start processes of their own.
    maxWorkers: 3,
    reporters: ['default', './test/helpers/reporter.ts'],
    dangerouslyIgnoreUnhandledErrors: false,
    coverage: { include: ['src/**', 'data/**', 'daemon/**', 'cli/**'], reporter: ['text-summary', 'html'] },
    projects: [
      // They leave nothing behind, and share what they import.
      {
        extends: true,
        test: { name: 'unit', include: unit, isolate: false, globalSetup: ['test/helpers/browser-build.ts'] },
      },
      {
        extends: true,
        test: { name: 'shared', include: shared, exclude: unit, isolate: false, setupFiles, globalSetup },
      },
      {
        extends: true,
        test: {
          // Projects run in the order of their names: the long ones of these first, and at the end those of milliseconds.
          name: 'alone',
          include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
          exclude: ['**/node_modules/**', ...unit, ...shared],
          setupFiles,
          globalSetup,
        },
      },
    ],
  },
});
