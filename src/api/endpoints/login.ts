// Signing in: which way an identity takes, tokens, and lost passwords.
import { z } from 'zod';
import { endpoint, media } from '../describe/endpoint.ts';
import { int, text } from '../describe/fields.ts';
import { MAX_EMAIL } from '../describe/identifiers.ts';
import { shape } from '../describe/shape.ts';
import { IdentityDetectResponse, Message, Token, UserPublic } from '../schemas/resources.ts';

export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 128;
/** Longest token of an identity provider. */
const MAX_ID_TOKEN = 8192;
/** Longest of the further members of a sign-in. */
const MAX_PROFILE = 512;

/** A password that is being set. */
export const newPassword = () => text({ min: MIN_PASSWORD, max: MAX_PASSWORD, secret: true });

/** The token of an invite, where sign-up needs one. */
export const invite = () =>
  text({ max: MAX_ID_TOKEN, secret: true })
    .optional()
    .describe('The invite for this email address, from the operator. Beyond the specification');

const TOKEN_USE = 'Send the token as `Authorization: Bearer <access_token>`; it lasts 8 days.';

export const detectIdentitySource = endpoint({
  id: 'detectIdentitySource',
  method: 'GET',
  path: '/api/v1/login/identity-source',
  auth: 'none',
  tag: 'login',
  summary: 'Find out how an identity signs in',
  gw: 'user identity-source {q}',
  effect: 'read',
  keywords: 'identity sign-in method, google or password or telegram',
  description:
    'Decides by the format alone, without any lookup: a numeric id is `telegram`, a provider address (gmail.com, googlemail.com) is `google`, every other email address is `email`.',
  query: { q: text({ min: 1, max: MAX_EMAIL, named: true }).describe('An email address or a numeric id') },
  response: IdentityDetectResponse,
  errors: ['wrong_identity'],
  example: { query: { q: 'merchant@example.com' } },
});

export const loginAccessToken = endpoint({
  id: 'loginAccessToken',
  method: 'POST',
  path: '/api/v1/login/access-token',
  auth: 'none',
  tag: 'login',
  summary: 'Sign in with email address and password',
  gw: 'login {username}',
  flags: { username: 'email' },
  effect: 'write',
  keywords: 'login with mail and password, get a bearer token, jwt, get a token, oauth2 password flow',
  description: `For accounts that signed up with their own email address; provider addresses and numeric ids have their own sign-in. The body is a form, as OAuth 2.0 requires. ${TOKEN_USE}`,
  encoding: 'form',
  body: shape('LoginForm', {
    username: text({ max: MAX_EMAIL }).describe('The email address'),
    password: text({ max: 1024, secret: true }),
    grant_type: text({ pattern: /^password$/ }).nullish(),
    scope: text({ max: 1024 }).default(''),
    client_id: text({ max: 1024 }).nullish(),
    client_secret: text({ max: 1024, secret: true }).nullish(),
  }),
  response: Token,
  errors: ['invalid_login', 'inactive_user', 'wrong_identity'],
  limit: 'login',
  example: { body: { username: '{email}', password: '{password}' } },
});

export const loginGoogle = endpoint({
  id: 'loginGoogle',
  method: 'POST',
  path: '/api/v1/login/google',
  auth: 'none',
  tag: 'login',
  summary: 'Sign in with a Google id token',
  gw: 'login',
  flags: { id_token: 'google-token' },
  effect: 'write',
  keywords: 'login with google',
  secondary: true,
  description: `Verifies the token against Google's keys and the configured client id. The first sign-in creates the account, where \`signup\` of \`GET /v1/config/public\` allows it; with \`invite\` it needs the \`invite\` for the address of the Google account. It never takes over a password account with the same address. ${TOKEN_USE}`,
  body: shape('GoogleLogin', {
    id_token: text({ min: 20, max: MAX_ID_TOKEN, secret: true }),
    invite: invite(),
  }),
  response: Token,
  errors: [
    'invalid_token',
    'inactive_user',
    'sign_in_disabled',
    'provider_unavailable',
    'signup_closed',
    'invite_required',
  ],
  limit: 'login',
  example: { body: { id_token: '{google_id_token}' } },
});

export const loginTelegram = endpoint({
  id: 'loginTelegram',
  method: 'POST',
  path: '/api/v1/login/telegram',
  auth: 'none',
  tag: 'login',
  summary: 'Sign in with the Telegram login widget',
  effect: 'write',
  keywords: 'login with telegram',
  secondary: true,
  description: `Takes what the widget hands to the page, unchanged, and verifies its hash; \`auth_date\` may be at most 24 hours old. The first sign-in creates the account where sign-up is open; an invite is for an email address, which Telegram does not give. ${TOKEN_USE}`,
  // What Telegram adds some day is part of what it has signed.
  body: z
    .looseObject({
      id: int(),
      auth_date: int().describe('Unix seconds'),
      hash: text({ min: 16, max: MAX_PROFILE, secret: true }),
      first_name: text({ max: MAX_PROFILE }).nullish(),
      last_name: text({ max: MAX_PROFILE }).nullish(),
      username: text({ max: MAX_PROFILE }).nullish(),
      photo_url: text({ max: MAX_PROFILE }).nullish(),
    })
    .meta({ id: 'TelegramLogin' }),
  response: Token,
  errors: ['invalid_token', 'inactive_user', 'sign_in_disabled', 'signup_closed', 'invite_required'],
  limit: 'login',
  example: {
    body: {
      id: '{telegram_id}',
      auth_date: '{telegram_auth_date}',
      hash: '{telegram_hash}',
      first_name: 'Ada',
    },
  },
});

export const testToken = endpoint({
  id: 'testToken',
  method: 'POST',
  path: '/api/v1/login/test-token',
  auth: 'jwt',
  tag: 'login',
  summary: 'Check an access token',
  gw: 'user test-token',
  effect: 'read',
  repeatable: true,
  keywords: 'check token valid',
  secondary: true,
  description: 'Returns the user that the token belongs to.',
  response: UserPublic,
  example: {},
});

export const recoverPassword = endpoint({
  id: 'recoverPassword',
  method: 'POST',
  path: '/api/v1/password-recovery/{email}',
  auth: 'none',
  tag: 'login',
  summary: 'Send a password recovery mail',
  gw: 'password recover',
  effect: 'write',
  keywords: 'forgot password, recovery mail',
  description:
    'The reply is always the same, whether or not the address is registered. A mail is sent only to confirmed addresses. It contains a link that works once and expires after 48 hours.',
  params: { email: text({ min: 1, max: MAX_EMAIL }) },
  response: Message,
  limit: 'recovery',
  example: { params: { email: '{email}' } },
});

export const resetPassword = endpoint({
  id: 'resetPassword',
  method: 'POST',
  path: '/api/v1/reset-password/',
  auth: 'none',
  tag: 'login',
  summary: 'Set a new password with a recovery token',
  gw: 'password reset',
  flags: { token: 'recovery-token' },
  effect: 'destroy',
  keywords: 'reset password, set a new password with a token',
  description:
    'The token comes from the recovery mail and works once. All tokens of the user become invalid.',
  body: shape('NewPassword', {
    token: text({ max: MAX_ID_TOKEN, secret: true }),
    new_password: newPassword(),
  }),
  response: Message,
  errors: ['invalid_token', 'inactive_user'],
  limit: 'recovery',
  example: { body: { token: '{recovery_token}', new_password: 'a new long password' } },
});

export const getResetPage = endpoint({
  id: 'getResetPage',
  method: 'GET',
  path: '/reset-password',
  auth: 'none',
  tag: 'login',
  summary: 'Get the page that the recovery mail links to',
  gw: 'page reset',
  flags: { token: 'recovery-token' },
  effect: 'read',
  keywords: 'form page',
  secondary: true,
  description:
    'A form for the new password. Opening it changes nothing: the token is used only when the form is sent.',
  query: { token: text({ max: MAX_ID_TOKEN, secret: true }).optional().describe('From the mail') },
  response: media('text/html'),
  extension: true,
  example: { query: {} },
});

export const confirmEmail = endpoint({
  id: 'confirmEmail',
  method: 'POST',
  path: '/api/v1/confirm-email',
  auth: 'none',
  tag: 'login',
  summary: 'Confirm an email address with the token that was mailed to it',
  gw: 'user confirm-email',
  flags: { token: 'confirmation-token' },
  effect: 'write',
  keywords: 'verify email address, prove mail address',
  secondary: true,
  description:
    'The token comes from the mail to the address, works once and expires after 48 hours. An address that was asked for replaces the one before, and a mail tells the former one. All tokens of the user and links of before end: sign in again.',
  body: shape('EmailConfirmation', { token: text({ max: MAX_ID_TOKEN, secret: true }) }),
  response: Message,
  errors: ['invalid_token', 'inactive_user', 'email_taken'],
  limit: 'recovery',
  extension: true,
  example: { body: { token: '{email_token}' } },
});

export const getConfirmationPage = endpoint({
  id: 'getConfirmationPage',
  method: 'GET',
  path: '/confirm-email',
  auth: 'none',
  tag: 'login',
  summary: 'Get the page that the confirmation mail links to',
  gw: 'page confirm-email',
  flags: { token: 'confirmation-token' },
  effect: 'read',
  keywords: 'button page',
  secondary: true,
  description:
    'A button that confirms the address. Opening the page changes nothing, because programs that check mails open links too.',
  query: { token: text({ max: MAX_ID_TOKEN, secret: true }).optional().describe('From the mail') },
  response: media('text/html'),
  extension: true,
  example: { query: {} },
});

export const recoverPasswordHtml = endpoint({
  id: 'recoverPasswordHtml',
  method: 'POST',
  path: '/api/v1/password-recovery-html-content/{email}',
  auth: 'admin',
  tag: 'login',
  summary: 'Get the recovery mail of a user',
  gw: 'password mail',
  effect: 'write',
  description:
    'Returns the HTML of the mail that password recovery would send, with a working link. For operators.',
  params: { email: text({ min: 1, max: MAX_EMAIL }) },
  response: media('text/html'),
  errors: ['user_not_found'],
  hidden: true,
  example: { params: { email: '{email}' } },
});

export const login = [
  detectIdentitySource,
  loginAccessToken,
  loginGoogle,
  loginTelegram,
  testToken,
  recoverPassword,
  resetPassword,
  getResetPage,
  confirmEmail,
  getConfirmationPage,
  recoverPasswordHtml,
] as const;
