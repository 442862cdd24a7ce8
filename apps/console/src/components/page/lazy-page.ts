import { lazyRouteComponent } from '@tanstack/react-router';
import { loadPart } from '../../api/load-part.ts';

/** The component of a page, which is loaded with it. For one that cannot be loaded the page is not reloaded unasked: it says why. */
export const lazyPage: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => loadPart(load), name);
