// `gw password change`: a new password for the signed-in user, whose tokens then end.
import { updateMyPassword } from '../../../src/api/endpoints/users.ts';
import { derive } from '../../engine/derive.ts';
import { say } from '../../output/io.ts';

export const command = derive(updateMyPassword, {
  after: (_reply, { io }) => say(io, 'All tokens have been revoked. Sign in again: gw login'),
});
