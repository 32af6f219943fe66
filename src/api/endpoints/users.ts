// Users: signing up, oneself, and their management by a superuser.
import { endpoint } from '../describe/endpoint.ts';
import { bool, int, text } from '../describe/fields.ts';
import { email, uuid } from '../describe/identifiers.ts';
import { shape } from '../describe/shape.ts';
import { Message, UserPublic, UsersPublic } from '../schemas/resources.ts';
import { invite, newPassword } from './login.ts';

const MAX_NAME = 255;
/** Most users of one page. */
const MAX_PAGE = 1000;

const fullName = () => text({ max: MAX_NAME }).nullish();
const userId = { user_id: uuid() };

export const signup = endpoint({
  id: 'signup',
  method: 'POST',
  path: '/api/v1/users/signup',
  auth: 'none',
  tag: 'users',
  summary: 'Sign up with email address and password',
  gw: 'user signup',
  effect: 'write',
  keywords: 'signup, register account, create account',
  description:
    'Creates a user and its merchant account, with limit 0 and a merchant key. `signup` of `GET /v1/config/public` says who may: with `invite`, the address must be the one that the operator invited, and `invite` the token of that invite; with `closed` no one. Provider mail (gmail.com, googlemail.com) and numeric ids use their own sign-in. Outside demo mode a link is mailed to the address; until it is used, the reply has `pending_email`, and no recovery is sent there.',
  body: shape('UserRegister', {
    email: email(),
    password: newPassword(),
    full_name: fullName(),
    invite: invite(),
  }),
  response: UserPublic,
  errors: ['user_exists', 'wrong_identity', 'signup_closed', 'invite_required'],
  limit: 'signup',
  example: { body: { email: 'ada@example.com', password: 'correct horse battery', full_name: 'Ada' } },
});

export const listUsers = endpoint({
  id: 'listUsers',
  method: 'GET',
  path: '/api/v1/users/',
  auth: 'admin',
  tag: 'users',
  summary: 'List users',
  gw: 'user list',
  effect: 'read',
  keywords: 'list users',
  description: 'Newest first. For superusers.',
  query: { skip: int({ gte: 0 }).default(0), limit: int({ gte: 0, lte: MAX_PAGE }).default(100) },
  response: UsersPublic,
  hidden: true,
  example: { query: {} },
});

export const createUser = endpoint({
  id: 'createUser',
  method: 'POST',
  path: '/api/v1/users/',
  auth: 'admin',
  tag: 'users',
  summary: 'Create a user',
  gw: 'user create',
  effect: 'write',
  keywords: 'new user, superuser',
  description: 'For superusers. The user gets a merchant account, as after signing up.',
  body: shape('UserCreate', {
    email: email(),
    password: newPassword(),
    is_active: bool().default(true),
    is_superuser: bool().default(false),
    full_name: fullName(),
  }),
  response: UserPublic,
  errors: ['user_exists', 'wrong_identity', 'rate_limited'],
  hidden: true,
  example: { body: { email: 'grace@example.com', password: 'correct horse battery' } },
});

export const getMe = endpoint({
  id: 'getMe',
  method: 'GET',
  path: '/api/v1/users/me',
  auth: 'jwt',
  tag: 'users',
  summary: 'Get the signed-in user',
  gw: 'user me',
  effect: 'read',
  keywords: 'me, my profile, current user',
  description: 'Returns the user that the token belongs to.',
  response: UserPublic,
  example: {},
});

export const updateMe = endpoint({
  id: 'updateMe',
  method: 'PATCH',
  path: '/api/v1/users/me',
  auth: 'jwt',
  tag: 'users',
  summary: 'Change your name or email address',
  gw: 'user update-me',
  effect: 'write',
  keywords: 'change my email address, change my name',
  description:
    'Members that are left out stay as they are. `full_name: null` removes the name; `email: null` changes nothing. Outside demo mode a new `email` is first `pending_email`: a link is mailed to it, and once the link is used it replaces the current address, all tokens and links of before end, and a mail tells the former address. Sending the current address cancels the change.',
  body: shape('UserUpdateMe', { full_name: fullName(), email: email().nullish() }),
  response: UserPublic,
  errors: ['email_taken', 'wrong_identity'],
  limit: 'recovery',
  example: { body: { full_name: 'Ada Lovelace' } },
});

export const sendEmailConfirmation = endpoint({
  id: 'sendEmailConfirmation',
  method: 'POST',
  path: '/api/v1/users/me/email-confirmation',
  auth: 'jwt',
  tag: 'users',
  summary: 'Send the mail that confirms your address again',
  gw: 'user send-confirmation',
  effect: 'write',
  keywords: 'resend confirmation mail, verify my email address',
  secondary: true,
  description:
    'Mails a new link to `pending_email`. Earlier links also work until one of them is used. If no address is pending, nothing is sent.',
  response: Message,
  errors: ['mail_failed'],
  limit: 'recovery',
  extension: true,
  example: {},
});

export const deleteMe = endpoint({
  id: 'deleteMe',
  method: 'DELETE',
  path: '/api/v1/users/me',
  auth: 'jwt',
  tag: 'users',
  summary: 'Delete the signed-in user',
  gw: 'user delete-me',
  effect: 'destroy',
  confirm: {
    question: 'Delete the signed-in user? Its tokens and its merchant key stop working at once.',
    type: 'delete',
  },
  keywords: 'delete my account, profile, user',
  description:
    'Its tokens, its merchant key and its units stop working; name, address, wallets and webhook address are erased. Ledger and invoices remain, without the identity; open invoices run until they end, and the prepaid balance is not paid out. Superusers cannot delete themselves.',
  response: Message,
  errors: ['superuser_self_delete'],
  example: {},
});

export const updateMyPassword = endpoint({
  id: 'updateMyPassword',
  method: 'PATCH',
  path: '/api/v1/users/me/password',
  auth: 'jwt',
  tag: 'users',
  summary: 'Change your password',
  gw: 'password change',
  effect: 'write',
  keywords: 'change password',
  description:
    'All tokens of the user become invalid, including this one: sign in again. So do links that were mailed, and an address that waits to be confirmed. A mail tells the user.',
  body: shape('UpdatePassword', { current_password: newPassword(), new_password: newPassword() }),
  response: Message,
  errors: ['incorrect_password', 'same_password', 'wrong_identity'],
  limit: 'login',
  example: { body: { current_password: '{password}', new_password: 'another long password' } },
});

export const getUser = endpoint({
  id: 'getUser',
  method: 'GET',
  path: '/api/v1/users/{user_id}',
  auth: 'jwt',
  tag: 'users',
  summary: 'Get a user',
  gw: 'user get',
  effect: 'read',
  description: 'Users can read themselves; superusers can read everyone.',
  params: userId,
  response: UserPublic,
  errors: ['not_superuser', 'user_not_found'],
  example: { params: { user_id: '{user_id}' } },
});

export const updateUser = endpoint({
  id: 'updateUser',
  method: 'PATCH',
  path: '/api/v1/users/{user_id}',
  auth: 'admin',
  tag: 'users',
  summary: 'Change a user',
  gw: 'user update',
  effect: 'write',
  keywords: 'make superuser, activate user',
  description:
    'For superusers. Members that are left out or null stay as they are, but `full_name: null` removes the name. A new address counts as confirmed at once. Setting a password or deactivating ends the tokens of the user.',
  params: userId,
  body: shape('UserUpdate', {
    email: email().nullish(),
    is_active: bool().nullish(),
    is_superuser: bool().nullish(),
    full_name: fullName(),
    password: newPassword().nullish(),
  }),
  response: UserPublic,
  errors: ['user_not_found', 'email_taken', 'wrong_identity', 'bad_request', 'rate_limited'],
  hidden: true,
  example: { params: { user_id: '{user_id}' }, body: { full_name: 'Ada Lovelace' } },
});

export const deleteUser = endpoint({
  id: 'deleteUser',
  method: 'DELETE',
  path: '/api/v1/users/{user_id}',
  auth: 'admin',
  tag: 'users',
  summary: 'Delete a user',
  gw: 'user delete',
  effect: 'destroy',
  confirm: { question: 'Delete the user {user_id}? Ledger and invoices remain.', type: '{user_id}' },
  description:
    'For superusers. Its tokens, its merchant key and its units stop working; name, address, wallets and webhook address are erased. Ledger and invoices remain, without the identity.',
  params: userId,
  response: Message,
  errors: ['user_not_found', 'superuser_self_delete', 'bad_request'],
  hidden: true,
  example: { params: { user_id: '{user_id}' } },
});

// Fixed segments stand before the ones with a parameter, so that no order of matching confuses them.
export const users = [
  signup,
  getMe,
  updateMe,
  sendEmailConfirmation,
  deleteMe,
  updateMyPassword,
  listUsers,
  createUser,
  getUser,
  updateUser,
  deleteUser,
] as const;
