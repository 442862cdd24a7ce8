// The pages of the catalog, of billing and of the organization.

import type { AnyRoute } from '@tanstack/react-router';

export const billingRoutes: readonly AnyRoute[] = [];
