import type { ReactNode } from 'react';

/**
 * Stands in the build for `react-remove-scroll`, by which a dialog of Mantine locks the page behind it: with a style element, which
 * the policy of the page forbids. So it is off everywhere, and nobody needs to load it.
 */
export const RemoveScroll = ({ children }: { children: ReactNode }): ReactNode => children;
