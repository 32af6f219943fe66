// Run by the build: puts the files behind /docs and /redoc among the assets, so that an install needs no package of them.
import { copyFileSync, mkdirSync } from 'node:fs';
import { built } from '../checkout/built.ts';
import { assets, licences, packageFile } from './assets.ts';

mkdirSync(built, { recursive: true });
for (const [name, { from }] of Object.entries(assets)) copyFileSync(packageFile(from), new URL(name, built));
for (const path of licences) copyFileSync(packageFile(path), new URL(`${path.replaceAll('/', '-')}`, built));
