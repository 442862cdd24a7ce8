import { Kbd, Modal } from '@mantine/core';
import { DESTINATIONS } from './navigation.ts';

export function ShortcutHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
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
    </Modal>
  );
}
