import { Menu, useMantineColorScheme } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { problemOf } from '../api/problem.ts';
import { noteSession } from '../api/session-end.ts';
import { signOut, useSession } from '../api/session.ts';
import { Icon } from '../components/page/icons.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { wordsOf } from '../components/outcomes/problem-words.ts';

const SCHEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'As the system' },
] as const;

export function UserMenu({ onHelp }: { onHelp: () => void }) {
  const { user, role } = useSession();
  // Without its transition: to hold the others back Mantine would write a style element.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      // The session is over: nothing that was typed can hold the page.
      await navigate({ to: '/sign-in', ignoreBlocker: true });
      // Once nothing shows it any more.
      queries.clear();
      noteSession();
    },
    onError: (error) => notify(wordsOf(problemOf(error)).said, 'bad'),
  });
  return (
    <Menu position="top-start" width={240}>
      <Menu.Target>
        <button type="button" className="side-user">
          <Icon name="person" />
          <span className="side-email">{user.email}</span>
          {role === 'viewer' && <span className="side-role">Viewer</span>}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        {SCHEMES.map(({ value, label }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            rightSection={colorScheme === value ? <Icon name="check" /> : undefined}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component="a" href="/docs" target="_blank" rightSection={<Icon name="external" />}>
          API reference
        </Menu.Item>
        <Menu.Item onClick={onHelp}>Keys</Menu.Item>
        <Menu.Item onClick={() => leave.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
