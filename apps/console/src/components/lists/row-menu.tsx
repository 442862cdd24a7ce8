import { ActionIcon, Menu } from '@mantine/core';
import { Icon } from '../page/icons.tsx';

interface RowMenuProps {
  /** What the button is read out as, such as “Actions on Backend”. */
  label: string;
  items: readonly { label: string; onClick: () => void; isDangerous?: boolean }[];
}

/** What can be done to a row and is seldom wanted, behind one button. A dialog that an item opens must be outside of it. */
export function RowMenu({ label, items }: RowMenuProps) {
  return (
    <Menu position="bottom-end" width={180}>
      <Menu.Target>
        <ActionIcon aria-label={label}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map((item) => (
          <Menu.Item key={item.label} onClick={item.onClick} {...(item.isDangerous === true && { color: 'red' })}>
            {item.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
