import { render } from "preact";
import { App } from "./app";
import { chooseLanguage, language } from "./i18n";
import { listen } from "./router";
import { applyTheme } from "./views/preferences";
import "./styles/page.css";

applyTheme();
chooseLanguage(language.value);
listen();
render(<App />, document.getElementById("app") as HTMLElement);
