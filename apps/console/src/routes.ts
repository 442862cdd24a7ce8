// The pages that are for everybody, and those of usage and access. Those of the catalog and of billing are in billing-routes.ts.

import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './components/page/lazy-page.ts';
import { rootRoute, shellRoute } from './shell/root-route.tsx';

/** Of an address only these are taken, as text; the pages see to what they mean. */
function textsOf<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [Key in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' && value !== '' ? [[name, value]] : [];
      }),
    ) as { [Key in Name]?: string };
}

export const publicRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    validateSearch: textsOf('return'),
    component: lazyPage(() => import('./access/sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-up',
    component: lazyPage(() => import('./access/sign-up-page.tsx'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/invitation',
    component: lazyPage(() => import('./access/invitation-page.tsx'), 'InvitationPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/password-reset',
    component: lazyPage(() => import('./access/password-reset-page.tsx'), 'PasswordResetPage'),
  }),
] as const;

export const usageRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    component: lazyPage(() => import('./home/home-page.tsx'), 'HomePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/usage',
    validateSearch: textsOf(
      'meter',
      'customer',
      'from',
      'to',
      'zone',
      'by',
      'compare',
      'split',
      'shown',
      'group',
      'value',
    ),
    component: lazyPage(() => import('./usage/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/events',
    validateSearch: textsOf('status', 'meter', 'customer', 'from', 'to', 'key', 'reason', 'event'),
    component: lazyPage(() => import('./events/events-page.tsx'), 'EventsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/api-keys',
    validateSearch: textsOf('page'),
    component: lazyPage(() => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/service-accounts',
    validateSearch: textsOf('page'),
    component: lazyPage(() => import('./service-accounts/service-accounts-page.tsx'), 'ServiceAccountsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/service-accounts/$accountId',
    validateSearch: textsOf('page'),
    component: lazyPage(() => import('./service-accounts/service-account-page.tsx'), 'ServiceAccountPage'),
  }),
] as const;
