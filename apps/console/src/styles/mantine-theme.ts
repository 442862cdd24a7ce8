import { colorsTuple, createTheme } from '@mantine/core';

/** Mantine has to know that the colour is one. What is drawn is in theme.css. */
const weir = colorsTuple('#0b7487');

const small = { defaultProps: { size: 'xs' } } as const;

/**
 * Dense by default: what one looks at all day has no room to give away. The components are named and not imported, so that
 * those which only some pages use are not part of the first load.
 */
export const mantineTheme = createTheme({
  primaryColor: 'weir',
  colors: { weir },
  defaultRadius: 6,
  cursorType: 'pointer',
  components: {
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 28 } },
    Button: small,
    Checkbox: small,
    Menu: { defaultProps: { shadow: 'md', transitionProps: { duration: 80 } } },
    // To lock the scrolling of the page Mantine writes a style element, which the policy of the page forbids.
    Modal: { defaultProps: { lockScroll: false, transitionProps: { duration: 80 }, centered: false } },
    MultiSelect: small,
    PasswordInput: small,
    Popover: { defaultProps: { shadow: 'md', transitionProps: { duration: 80 } } },
    SegmentedControl: small,
    // A dialog whose first field it is does not begin with a list over its other fields.
    Select: { defaultProps: { size: 'xs', openOnFocus: false, comboboxProps: { transitionProps: { duration: 60 } } } },
    Switch: small,
    Textarea: { defaultProps: { size: 'xs', autosize: true, minRows: 2 } },
    TextInput: small,
    Tooltip: { defaultProps: { openDelay: 250, transitionProps: { duration: 80 } } },
  },
});
