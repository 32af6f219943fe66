// For `npm run sheets`: pictures of all pages, which no other run takes.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/pictures/sheets.ts'],
    // Every page in every language, width and colour scheme.
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
    disableConsoleIntercept: true,
    setupFiles: ['test/helpers/quick-hash.ts'],
    globalSetup: ['test/helpers/browser-build.ts', 'test/helpers/global.ts'],
  },
});
