// The frame of every page of one who is signed in: the navigation, the search, and who one is.

import { ActionIcon } from '@mantine/core';
import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { useSessionOver } from '../api/session-end.ts';
import { useSession } from '../api/session.ts';
import { Icon } from '../components/page/icons.tsx';
import { lazily } from '../components/page/lazily.tsx';
import { DESTINATIONS } from './navigation.ts';
import { useShortcuts } from './shortcuts.ts';
import { UserMenu } from './user-menu.tsx';

/** The first page has no form and no dialog, and does not wait for what makes one. */
const Search = lazily(() => import('./search.tsx').then((loaded) => loaded.Search));
const SignInAgain = lazily(() => import('./sign-in-again.tsx').then((loaded) => loaded.SignInAgain));
const ShortcutHelp = lazily(() => import('./shortcut-help.tsx').then((loaded) => loaded.ShortcutHelp));

export function Shell() {
  const { organization } = useSession();
  const isSessionOver = useSessionOver();
  const [isNavigationOpen, setNavigationOpen] = useState(false);
  const [dialog, setDialog] = useState<'search' | 'help' | undefined>();
  useShortcuts({ onSearch: () => setDialog('search'), onHelp: () => setDialog('help') });

  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <aside className={isNavigationOpen ? 'side is-open' : 'side'}>
        <div className="side-head">
          <Link to="/" className="side-organization" title={organization.name}>
            <span className="side-mark" aria-hidden="true">
              {organization.name.trim().charAt(0).toUpperCase()}
            </span>
            <span className="side-name">{organization.name}</span>
          </Link>
          <ActionIcon
            className="side-toggle"
            size={36}
            aria-label={isNavigationOpen ? 'Close the navigation' : 'Open the navigation'}
            aria-expanded={isNavigationOpen}
            onClick={() => setNavigationOpen(!isNavigationOpen)}
          >
            <Icon name={isNavigationOpen ? 'close' : 'menu'} />
          </ActionIcon>
        </div>
        <div className="side-body">
          <button type="button" className="side-search" onClick={() => setDialog('search')}>
            <Icon name="search" />
            <span>Search</span>
            <kbd aria-hidden="true">/</kbd>
          </button>
          <nav aria-label="Main">
            {DESTINATIONS.map(({ group, pages }) => (
              <div key={group ?? ''} className="side-group">
                {group !== undefined && <p className="side-title">{group}</p>}
                {pages.map(({ to, label, icon }) => (
                  <Link
                    key={to}
                    to={to}
                    className="side-link"
                    activeOptions={{ exact: to === '/', includeSearch: false }}
                    activeProps={{ 'aria-current': 'page' }}
                    // On a phone the navigation lies over the page that one has just chosen.
                    onClick={() => setNavigationOpen(false)}
                  >
                    <Icon name={icon} />
                    {label}
                  </Link>
                ))}
              </div>
            ))}
          </nav>
          <UserMenu onHelp={() => setDialog('help')} />
        </div>
      </aside>
      <main id="main" className="main" tabIndex={-1}>
        <Outlet />
      </main>
      {dialog === 'search' && <Search onClose={() => setDialog(undefined)} />}
      {isSessionOver && <SignInAgain />}
      {dialog === 'help' && <ShortcutHelp onClose={() => setDialog(undefined)} />}
    </div>
  );
}
