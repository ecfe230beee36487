// SPDX-License-Identifier: MIT
import { mount } from "svelte";

import "../style.css";
import Designer from "./Designer.svelte";

mount(Designer, { target: document.getElementById("app")! });
