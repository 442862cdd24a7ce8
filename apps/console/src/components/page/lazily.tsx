import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, type ComponentType } from 'react';

/**
 * A component that is loaded when it is first drawn: a dialog, or a tab that is not the first one. Whoever opens the page does not
 * wait for what only the next press shows.
 */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Loaded = lazyRouteComponent(() => load().then((component) => ({ component })), 'component');
  const Drawn = Loaded as ComponentType<Props>;
  return function Lazy(props) {
    return (
      <Suspense
        fallback={
          <p className="opening" role="status">
            Loading …
          </p>
        }
      >
        <Drawn {...props} />
      </Suspense>
    );
  };
}
