// For `npm run sheets`: pictures of all pages, which no other run takes.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const helper = (name: string): string => fileURLToPath(new URL(`../helpers/${name}.ts`, import.meta.url));

export default defineConfig({
  test: {
    include: ['test/pictures/sheets.ts'],
    // Every page in every language, width and colour scheme.
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
    disableConsoleIntercept: true,
    setupFiles: [helper('quick-hash')],
    globalSetup: [helper('browser-build'), helper('global')],
  },
});
