import { render } from "preact";
import { App } from "./app";
import { chooseLanguage, language } from "./i18n";
import { listen } from "./router";
import { applyTheme } from "./views/preferences";
import "./styles/page.css";

applyTheme();
chooseLanguage(language.value);
listen();
// A page from the browser's cache shows what it showed before: the session may have ended since.
window.addEventListener("pageshow", (event: PageTransitionEvent) => event.persisted && location.reload());
render(<App />, document.getElementById("app") as HTMLElement);
