import { Kbd } from '@mantine/core';
import '@mantine/core/styles/Kbd.css';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { DESTINATIONS } from './navigation.ts';
import './shortcut-help.css';

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {DESTINATIONS.flatMap(({ pages }) => pages).map(({ key, label }) => (
          <div key={key}>
            <dt>{label}</dt>
            <dd>
              <Kbd>g</Kbd> <Kbd>{key}</Kbd>
            </dd>
          </div>
        ))}
        <div>
          <dt>Search</dt>
          <dd>
            <Kbd>/</Kbd>
          </dd>
        </div>
        <div>
          <dt>This list</dt>
          <dd>
            <Kbd>?</Kbd>
          </dd>
        </div>
      </dl>
    </Dialog>
  );
}
