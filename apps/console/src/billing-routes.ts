// The pages of the catalog, of billing and of the organization.

import './styles/things.css';
import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './components/page/lazy-page.ts';
import { NotFound, shellRoute } from './shell/root-route.tsx';

const getParentRoute = () => shellRoute;

/** What lists show, and which tab is open: as text, the pages see to what it means. */
function validateSearch(search: Record<string, unknown>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
    ),
  );
}

export const billingRoutes = [
  createRoute({
    getParentRoute,
    path: '/customers',
    validateSearch,
    component: lazyPage(() => import('./customers/customers-page.tsx'), 'CustomersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/customers/$customerId',
    validateSearch,
    component: lazyPage(() => import('./customers/customer-page.tsx'), 'CustomerPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/features',
    validateSearch,
    component: lazyPage(() => import('./catalog/features-page.tsx'), 'FeaturesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/meters/$meterId',
    component: lazyPage(() => import('./catalog/meter-page.tsx'), 'MeterPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/plans',
    validateSearch,
    component: lazyPage(() => import('./catalog/plans-page.tsx'), 'PlansPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/plans/new',
    validateSearch,
    component: lazyPage(() => import('./catalog/plan-editor.tsx'), 'NewPlanPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/plans/$planId/edit',
    component: lazyPage(() => import('./catalog/plan-editor.tsx'), 'EditPlanPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/plans/$planId',
    component: lazyPage(() => import('./catalog/plan-page.tsx'), 'PlanPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/subscriptions',
    validateSearch,
    component: lazyPage(() => import('./billing/subscriptions-page.tsx'), 'SubscriptionsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/subscriptions/$subscriptionId',
    validateSearch,
    component: lazyPage(() => import('./billing/subscription-page.tsx'), 'SubscriptionPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/invoices',
    validateSearch,
    component: lazyPage(() => import('./billing/invoices-page.tsx'), 'InvoicesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/invoices/$invoiceId',
    validateSearch,
    component: lazyPage(() => import('./billing/invoice-page.tsx'), 'InvoicePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/credits',
    validateSearch,
    component: lazyPage(() => import('./billing/credits-page.tsx'), 'CreditsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/alerts',
    validateSearch,
    component: lazyPage(() => import('./alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/alerts/$alertId',
    validateSearch,
    component: lazyPage(() => import('./alerts/alert-page.tsx'), 'AlertPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks',
    component: lazyPage(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks/$endpointId',
    component: lazyPage(() => import('./webhooks/endpoint-page.tsx'), 'EndpointPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    validateSearch,
    component: lazyPage(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/health',
    component: lazyPage(() => import('./health/health-page.tsx'), 'HealthPage'),
  }),
  // An address that nobody knows is a page like another, with the navigation.
  createRoute({ getParentRoute, path: '$', component: NotFound }),
] as const;
