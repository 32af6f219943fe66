// The flag by which the commands of the profile take the name of a setting.
import type { Flag } from '../../engine/flag.ts';

export const keyFlag = (choices: readonly string[]): Flag => ({
  field: 'key',
  name: 'key',
  place: 'own',
  kind: 'text',
  required: true,
  choices,
  help: 'which setting',
});
